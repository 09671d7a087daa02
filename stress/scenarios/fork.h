// What the two halves of the scenario "fork" share: the operators, and the life of a child.
//
// Layer:   stress
// Threads: any; in a child the one that forked.
// SPDX-License-Identifier: MIT

#ifndef STRESS_SCENARIOS_FORK_H
#define STRESS_SCENARIOS_FORK_H

#include "shared/group.h"

#define STRESS_FORK_OPS 4
#define STRESS_FORK_DEPTH 3 // generations of children

// How a process forks.
typedef enum stress_fork_way {
    STRESS_FORK_AUTOMATIC, // by the handlers that the library registers
    STRESS_FORK_AROUND,    // with a pair of the host's around them
    STRESS_FORK_BY_HAND,   // with a pair of the host's instead of them
    STRESS_FORK_WAYS
} stress_fork_way;

extern stress_group stress_fork_group;

// One call of an operator; returns the generation that answers.
uint64_t stress_fork_call(unsigned which, int64_t n);

// fork(), in that way.
pid_t stress_fork(stress_fork_way way);

// What a child does: everything. `generation` is one that the parent had seen before the fork;
// `is_inside`: in a call or under a snapshot that the parent has begun.
void stress_fork_live(stress_worker *worker, stress_fork_way way, int depth, uint64_t generation,
                      bool is_inside);

// Begins and ends the life of a child: with status 0 if it has found nothing.
void stress_fork_begin(void);
_Noreturn void stress_fork_end(void);

// Waits for a child, and reports how it ended unless that is as it should be.
void stress_fork_join(pid_t child);

#endif // STRESS_SCENARIOS_FORK_H
