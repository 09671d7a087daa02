// Running a sequence of operations on the library and on the reference, side by side.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef OPERATIONS_RUN_H
#define OPERATIONS_RUN_H

#include "operations/sequence.h"

// Figures of all runs so far.
typedef struct operations_figures {
    uint64_t sequences;
    uint64_t operations; // that did something
    uint64_t refused;    // transactions, for what is registered or written
    uint64_t out_of_memory;
    uint64_t calls;
    uint64_t ran; // calls that a kernel answered
} operations_figures;

extern operations_figures operations_figures_all;

// Runs one sequence. Ends the program where the two sides differ, with what differs and the record.
void operations_run(const sequence_record *records, size_t count);

#endif // OPERATIONS_RUN_H
