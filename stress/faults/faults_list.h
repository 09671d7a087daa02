// Ways: how each seeded fault can be caught.
//
// Layer:   stress
// Threads: the main thread; the list is immutable.
// SPDX-License-Identifier: MIT

#ifndef STRESS_FAULTS_FAULTS_LIST_H
#define STRESS_FAULTS_FAULTS_LIST_H

#include "base/yield.h"

#define STRESS_WAY_LIMIT 4

typedef enum stress_way_kind {
    STRESS_WAY_NONE,
    STRESS_WAY_SCENARIO, // `what`: a scenario of this program, and options for it
    STRESS_WAY_RACE,     // the same in the build of the preset `tsan`, beside this one
    STRESS_WAY_EXPLORE,  // a case of keyway-explore
    STRESS_WAY_UNIT,     // `program suite/case`: a case of a Criterion program, which is its own
                         // control: it switches the fault on itself
    STRESS_WAY_PROGRAM,  // a test program that takes --fault
    STRESS_WAY_MODEL,    // a tool of tests/models/check
} stress_way_kind;

typedef struct stress_way {
    stress_way_kind kind;
    const char *what;
} stress_way;

// The ways are tried in this order. Those after the first are for a build without it, and for a
// fault that it does not catch in time.
typedef struct stress_proof {
    kwi_fault fault;
    stress_way ways[STRESS_WAY_LIMIT];
} stress_proof;

// The fault's entry, or NULL.
const stress_proof *stress_proof_find(kwi_fault fault);

#endif // STRESS_FAULTS_FAULTS_LIST_H
