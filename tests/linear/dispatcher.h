// The specification of histories of the library: the sequential reference.
//
// Layer:   test
// Threads: one thread uses it.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_DISPATCHER_H
#define TESTS_LINEAR_DISPATCHER_H

#include <stdio.h>

#include "linear/specification.h"
#include "reference/reference.h"

// Its operations are linear_operation.
extern const linear_specification linear_dispatcher;

// The reference inside a state.
const reference *linear_dispatcher_reference(const void *state);

// What is registered, newest first, a line each: fallbacks, and what the operators have whose bits
// are set.
void linear_dispatcher_print(const void *state, unsigned operators, FILE *to);

#endif // TESTS_LINEAR_DISPATCHER_H
