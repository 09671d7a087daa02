// Shrinking: the part of a history that is not linearisable, without what has no part in it.
//
// Layer:   test
// Threads: one thread uses a checker.
// SPDX-License-Identifier: MIT
//
// Note [What may be left out]
//
// What was only observed may always be left out: if the history without it has no order, then with
// it neither. A change may not, for what is left out may be the reason why an answer is legal, and
// then something else is wrong than was. An operation is called critical if the history without it
// has an order. A change is left out only if all that are critical stay so, and if what was legal
// in some order of its own, times disregarded, still is: then it is the same contradiction.

#ifndef TESTS_LINEAR_SHRINK_H
#define TESTS_LINEAR_SHRINK_H

#include <stdbool.h>

#include "linear/checker.h"

typedef struct linear_shrinking {
    linear_checker *checker; // which refuses the events
    const linear_specification *specification;
    linear_event *events;
    uint32_t count;

    // Changes the operations to what they are when only the events are there whose bits are set.
    // False: they cannot be, so none of the others may be left out.
    bool (*adapt)(void *context, uint64_t kept);
    void *context;
} linear_shrinking;

// Takes events out, as long as the checker refuses the rest; or observers only.
void linear_shrink(linear_shrinking *shrinking, bool observers_only);

#endif // TESTS_LINEAR_SHRINK_H
