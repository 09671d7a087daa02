// Nested, from inside: what a thread knows of itself, and the operator that it changes.
//
// Layer:   stress
// Threads: everything here belongs to the calling thread.
// SPDX-License-Identifier: MIT

#ifndef STRESS_SCENARIOS_NESTED_H
#define STRESS_SCENARIOS_NESTED_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/library.h>
#include <keyway/local.h>
#include <keyway/object.h>

#include "shared/probe.h"
#include "shared/subject.h"

#define STRESS_NESTED_COVERS 6  // kernels that cover each other
#define STRESS_NESTED_CLOSED 24 // libraries that are closed and not drained yet

// One kernel of the thread's operator.
typedef struct stress_cover {
    kw_library *library;
    uint64_t id;
    unsigned inside; // calls of the thread that run it
    const stress_subject *subject;
    kw_object *object; // holds the library; NULL: none does
} stress_cover;

typedef struct stress_nester {
    stress_worker *worker;
    unsigned budget; // things that may still be done inside the outermost call
    unsigned snapshots;

    kw_library *base; // holds the definition, the layer and the lowest kernel
    const kw_operator *op;
    char name[32];
    stress_cover covers[STRESS_NESTED_COVERS]; // the lowest is of `base`
    unsigned cover_count;
    stress_cover closed[STRESS_NESTED_CLOSED];
    unsigned closed_count;
    uint64_t pinned_id; // what the operator answers under the open snapshot
    bool is_observing;
} stress_nester;

extern _Thread_local stress_nester stress_nested_me;
extern stress_group stress_nested_group;

// One more thing that a kernel does, at random; `n` levels may follow.
void stress_nested_act(int64_t n);

// The thread's own operator: calls it, and puts, takes and replaces its kernels.
void stress_own_open(unsigned index);
void stress_own_call(int64_t n);
void stress_own_cover(void);
void stress_own_uncover(void);
void stress_own_replace(void);
void stress_own_observe(void);
uint64_t stress_own_id(void); // that it answers

// Looks whether closed libraries are gone; waits for them where the thread is inside nothing.
void stress_own_drain(bool is_outside);
void stress_own_close(void);

#endif // STRESS_SCENARIOS_NESTED_H
