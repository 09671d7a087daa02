// Rounds: windows made and checked, one after another, until the time is over.
//
// Layer:   test
// Threads: the main thread.
// SPDX-License-Identifier: MIT
//
// Note [Rounds]
//
// In a round the workers do some operations each, all at once, and then rest. Between rounds no
// operation is running, so a round is a window of the history. Before the workers begin, the main
// thread drains, destroys and makes anew what libraries are closed; after they rest, it calls every
// operator with every tensor. These operations belong to the window too: they are in order, and
// what they see leaves few states possible.
//
// After some rounds everything is taken down, which must succeed and destroy every kernel's user
// data, and the next rounds begin with a fresh dispatcher, of which the state is known.

#ifndef TESTS_LINEAR_ROUNDS_H
#define TESTS_LINEAR_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "linear/checker.h"
#include "linear/options.h"

typedef struct linear_totals {
    uint64_t windows;
    uint64_t operations;
    uint64_t changes;   // operations that changed something
    uint64_t overlaps;  // pairs of operations that overlapped
    uint64_t conflicts; // of them, those of which one changed something
    uint64_t answers;   // questions under snapshots counted one by one
    uint64_t undecided;
    linear_effort effort;
} linear_totals;

// False if something was found, which is printed.
bool linear_rounds_run(const linear_options *options, linear_totals *out_totals);

// Checks a history from a file.
linear_verdict linear_rounds_check(const linear_options *options);

#endif // TESTS_LINEAR_ROUNDS_H
