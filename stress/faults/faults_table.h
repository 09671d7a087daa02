// Verdicts: what became of each seeded fault, as text, as a table for documents, as JSON.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#ifndef STRESS_FAULTS_FAULTS_TABLE_H
#define STRESS_FAULTS_FAULTS_TABLE_H

#include <stdbool.h>

#include "driver/options.h"
#include "faults/faults_list.h"

typedef struct stress_verdict {
    kwi_fault fault;
    bool is_caught;
    stress_way way;     // that caught it, or the last one that was tried
    char text[480];     // by which check; or each way and why it has not caught it
    double seconds;     // the median, with several runs
    unsigned run_count; // that the figure is from
} stress_verdict;

void stress_verdicts_begin(const stress_options *options);
void stress_verdict_print(const stress_verdict *verdict, const stress_options *options);

// Writes all to `options->json`. False: it cannot be written; it has said so.
bool stress_verdicts_write(const stress_verdict *verdicts, unsigned count,
                           const stress_options *options);

#endif // STRESS_FAULTS_FAULTS_TABLE_H
