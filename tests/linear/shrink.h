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

#include "linear/checker.h"

// Takes events out of a window that the checker refuses, and refuses still. Changes `events` and
// `*count`.
void linear_shrink(linear_checker *checker, const linear_specification *specification,
                   linear_event *events, uint32_t *count);

#endif // TESTS_LINEAR_SHRINK_H
