// The checker: whether a history could be that of one thread.
//
// Layer:   test
// Threads: one thread uses a checker.
// SPDX-License-Identifier: MIT
//
// Note [The search]
//
// A history is linearisable if its operations can be put in one order, in which an operation that
// was over before another began stands before it, and in which each gives its answer in the state
// that those before it have made. The search is that of Wing and Gong (1993): it takes any
// operation that may stand next and is legal in the state, and goes on with the rest. It remembers,
// after Lowe (2017), each pair of a set of operations that are placed and a state: whatever comes
// after such a pair depends on nothing else, so it is looked at once.
//
// An operation that leaves the state as it is, may stand next and is legal, is placed at once, and
// no other way is tried: in any order that places it later it can be moved to the front, where it
// gives the same answer, and the others find the states that they found.
//
// Histories are checked in windows, cut where no operation is running: there every operation before
// the cut stands before every one after it. So an order of the whole is an order of the windows one
// after another, and all that a window has to know of those before it is in which states they may
// have ended. All of them are carried on, not the first that was found: what looked possible in one
// window may be refuted in the next. The search therefore does not stop at the first order; it
// finds every state that some order ends in.
//
// A search that meets more pairs than its limit has no answer: the window is not decided, and with
// the states after it unknown, neither is what follows. It is counted and reported, and the caller
// starts anew from a known state.
//
// Why operators are not checked apart: a history of independent objects is linearisable if that of
// each is (Herlihy and Wing, 1990), which makes many small searches of one. Operators of a
// dispatcher are not independent. A commit changes several at one instant, a fallback and the
// closing of a library change all, and a snapshot's calls see one instant of all of them. An order
// for each operator alone would say nothing of these, which are what is promised.

#ifndef TESTS_LINEAR_CHECKER_H
#define TESTS_LINEAR_CHECKER_H

#include <stdint.h>

#include "linear/history.h"
#include "linear/specification.h"

typedef enum linear_verdict {
    LINEAR_YES,
    LINEAR_NO,
    LINEAR_NOT_DECIDED,
} linear_verdict;

typedef struct linear_effort {
    uint64_t pairs;   // of a set of operations and a state, that searches looked at
    uint64_t applied; // operations that the specification was asked about
    uint32_t widest;  // the most states that a window may have ended in
} linear_effort;

typedef struct linear_checker linear_checker; // opaque

// A checker in the state that the specification starts with. `pair_limit` is for one window.
linear_checker *linear_checker_create(const linear_specification *specification,
                                      uint64_t pair_limit);
void linear_checker_destroy(linear_checker *checker);

// Starts anew: the next window begins in the state at the start.
void linear_checker_restart(linear_checker *checker);

// Checks the window that follows those that were checked. After LINEAR_YES the checker stands
// behind it; after another verdict where it stood before.
linear_verdict linear_checker_advance(linear_checker *checker, const linear_window *window);

// The same without moving on.
linear_verdict linear_checker_try(linear_checker *checker, const linear_window *window);

// The states that what was checked may have ended in.
uint32_t linear_checker_state_count(const linear_checker *checker);
const void *linear_checker_state(const linear_checker *checker, uint32_t index);

const linear_effort *linear_checker_effort(const linear_checker *checker);

#endif // TESTS_LINEAR_CHECKER_H
