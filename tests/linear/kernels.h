// Kernels that say who they are, and what became of each.
//
// Layer:   test
// Threads: kernels run on any; the rest as it says.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_KERNELS_H
#define TESTS_LINEAR_KERNELS_H

#include <stdint.h>

#include <keyway/kernel.h>
#include <keyway/transaction.h>

#include "linear/operation.h"

// The most marks of one dispatcher.
#define LINEAR_MARKS 65000

// The kernel that a step registers; its user data is its mark, which is alive from now on.
kw_kernel_descriptor linear_kernel_describe(const reference_step *step);

// Takes the mark of a kernel that could not be registered back.
void linear_mark_take_back(unsigned mark);

// Where the kernels that run next on this thread note themselves.
void linear_kernels_note(linear_question *question);

// A mark's own; written by who registers, read by others when the threads have met.
kw_registration *linear_mark_registration(unsigned mark);

// Of a registration that was successful: may be read by others when the threads have met.
unsigned linear_mark_library(unsigned mark);

// When its destructor ran; UINT64_MAX: it has not; 0: nothing is known of it.
uint64_t linear_mark_destroyed_at(unsigned mark);

// Says whose it is, of what was registered or of what was read.
void linear_mark_note(unsigned mark, unsigned library);

// A mark that is alive, or LINEAR_MARKS. With that the threads have met.
unsigned linear_mark_alive(void);

// All marks are unused then.
void linear_marks_clear(void);

#endif // TESTS_LINEAR_KERNELS_H
