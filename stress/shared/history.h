// Histories: which answers an operator could give at which version.
//
// Layer:   stress
// Threads: one writer for each history; any thread checks.
// SPDX-License-Identifier: MIT
//
// Note [Legal answers]
//
// The writer of an operator enters each state before the commit that makes it, with the earliest
// version the commit can have, and says after the commit which version it had, or between which two
// it lies when a one-change function did not tell. A call that ran while the newest version went
// from `first` to `last` may give the answer of a state that held at one of them. A state whose
// commit has not returned may have begun and may not, so it and the one before it are both legal.
// What is left is never a false alarm: a state that ended at a version which was the newest before
// the call began is stale, and one whose first version was not reached when it ended is too early.

#ifndef STRESS_SHARED_HISTORY_H
#define STRESS_SHARED_HISTORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRESS_HISTORY_COUNT 256

// What an operator's registrations amount to. Ids are those of subjects; 0 is none.
typedef struct stress_facts {
    uint64_t cpu;
    uint64_t autograd; // 0: the key falls through
    uint64_t fallback; // of the key that is the writer's own
    bool is_visible;
    bool is_defined;
} stress_facts;

typedef struct stress_state {
    _Atomic uint64_t earliest; // its first version is not before
    _Atomic uint64_t latest;   // nor after; UINT64_MAX: not known yet
    _Atomic uint64_t cpu;
    _Atomic uint64_t autograd;
    _Atomic uint64_t fallback;
    atomic_uint flags;
} stress_state;

typedef struct stress_history {
    _Atomic uint64_t count; // of all states so far; the last STRESS_HISTORY_COUNT are kept
    stress_state states[STRESS_HISTORY_COUNT];
} stress_history;

// What a call or look-up was and what came of it.
typedef enum stress_path {
    STRESS_PATH_CPU,
    STRESS_PATH_AUTOGRAD,
    STRESS_PATH_FALLBACK,
    STRESS_PATH_FIND,
} stress_path;

typedef enum stress_answer {
    STRESS_ANSWERED,
    STRESS_NO_KERNEL, // any of the statuses that say so
    STRESS_REMOVED,
    STRESS_UNDEFINED, // a look-up that needs a definition
    STRESS_OTHER,     // never legal
} stress_answer;

typedef struct stress_observation {
    stress_path path;
    stress_answer answer;
    bool is_boxed;
    uint64_t id;       // ANSWERED: of the kernel that answered
    uint64_t autograd; // of the kernel that redispatched to it; 0: none
} stress_observation;

// Whether the observation is what these facts answer.
bool stress_facts_allow(const stress_facts *facts, const stress_observation *seen);

void stress_history_enter(stress_history *history, const stress_facts *facts);
void stress_history_settle(stress_history *history, uint64_t earliest, uint64_t latest);

// Checks what a call or look-up observed, and counts that it was checked. False: no state that held
// between the two versions answers so, and the newest states are written as a sentence.
bool stress_history_allows(const stress_history *history, uint64_t first, uint64_t last,
                           const stress_observation *observation, char *out_legal, size_t size);

#endif // STRESS_SHARED_HISTORY_H
