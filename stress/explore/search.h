// The search: which thread goes on, in this execution and in the next one.
//
// Layer:   stress
// Threads: the one that runs.
// SPDX-License-Identifier: MIT
//
// Note [Search]
//
// Depth first, without saving states: an execution follows the choices of the one before up to the
// last place where something else is left to choose, chooses that, and from there on lets whoever
// runs go on, or, if it cannot, the first who can. A choice of another thread while the one that
// runs could go on is a preemption; with a bound, choices that would exceed it are left out.
//
// A state that was reached before is not searched again, if it was reached with at least as many
// preemptions left: by the same thread as the one that runs; or with one more by another one, since
// a switch at that place leads to the same; or when the thread that ran could not go on, since then
// every choice was free. What follows from a state depends on nothing else (Note [States]): the
// choices that are enabled do not, but for a pause, which waits for any step of another thread and
// so is a part of the fingerprint. The execution itself goes to its end, so that every execution
// ends in the same way, but nothing branches off it.

#ifndef EXPLORE_SEARCH_H
#define EXPLORE_SEARCH_H

#include <stdbool.h>

// `bound` preemptions; EXPLORE_UNBOUNDED. `goes_over`: also from states that were reached before.
void explore_search_begin(int bound, bool goes_over);

// The execution repeats a schedule, see write_schedule() in trace.c. False: it is none.
bool explore_search_repeat(const char *schedule);

// Before each execution. After it: whether there is another one.
void explore_search_execution(void);
bool explore_search_next(void);

// Chooses among the threads of `enabled`, a bit for each, after a step of `current`, or of
// EXPLORE_NOBODY.
unsigned explore_search_choose(unsigned enabled, unsigned current);

#endif // EXPLORE_SEARCH_H
