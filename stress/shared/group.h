// Groups: operators of which every commit replaces all kernels, so that a version is a generation.
//
// Layer:   stress
// Threads: one writer; any thread calls.
// SPDX-License-Identifier: MIT

#ifndef STRESS_SHARED_GROUP_H
#define STRESS_SHARED_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/library.h>

#include "concurrency/typed.h"
#include "driver/worker.h"
#include "shared/era.h"
#include "shared/history.h"

#define STRESS_GROUP_LIMIT 8
#define STRESS_CLOSED_LIMIT 256

typedef struct stress_group {
    // Set before it is opened.
    kw_dispatcher *dispatcher;
    const char *ns;
    unsigned op_count;
    typed_function cpu;          // the kernels; each answers its id
    kw_boxed_function cpu_boxed; // takes turns with `cpu`; NULL: does not
    typed_function autograd;
    bool falls_through;         // every third generation has a fallthrough in place of `autograd`
    kw_boxed_function fallback; // for `fallback_key`, replaced with the others; NULL: there is none
    kw_key fallback_key;
    stress_history *histories; // one an operator; NULL: none is kept
    stress_era *era;           // told of each generation; NULL: nobody asks
    bool never_waits;          // for calls that hold a library: it is drained once they have ended

    const kw_operator *ops[STRESS_GROUP_LIMIT];
    kw_library *base;                        // holds the definitions
    kw_library *newest;                      // holds the kernels
    kw_library *closed[STRESS_CLOSED_LIMIT]; // and not drained yet
    unsigned closed_count;
    kw_registration fallback_registration; // of the newest generation
    uint64_t generation;
} stress_group;

// Defines the operators "<ns>::op0" and on, and commits the first generation.
void stress_group_open(stress_group *group);

// Commits the next generation, then closes, drains and destroys the library of the one before.
void stress_group_commit(stress_group *group, stress_worker *worker);

// Takes everything back.
void stress_group_close(stress_group *group);

// Whether a generation has a fallthrough in place of its autograd kernels.
static inline bool stress_group_falls_through(const stress_group *group, uint64_t generation)
{
    return group->falls_through && generation % 3 == 0;
}

// The generation that an id of a group's kernel stands for.
uint64_t stress_generation_of(uint64_t id);

// For calls of the library that cannot fail unless it is broken: a violation if one does.
bool stress_expect(kw_status status, const char *what, const kw_error *err);

// Closes, drains and destroys a library, whose close may be done already.
void stress_library_end(kw_library *library);
kw_library *stress_library_open(kw_dispatcher *dispatcher, const char *name);

#endif // STRESS_SHARED_GROUP_H
