// Trials: one run of one way to catch a fault, as a process of its own.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#ifndef STRESS_FAULTS_FAULTS_RUN_H
#define STRESS_FAULTS_FAULTS_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "driver/options.h"
#include "faults/faults_list.h"

typedef enum stress_outcome {
    STRESS_CLEAN,   // nothing was found
    STRESS_FOUND,   // a check failed; `text` is which
    STRESS_ENDLESS, // it was ended when its time was over
    STRESS_MISSING, // the program or its tool is not here; `text` says what to do
    STRESS_BROKEN,  // it could not be run; `text` says why
} stress_outcome;

typedef struct stress_trial {
    stress_outcome outcome;
    double seconds;
    char text[160];
    char output[16384]; // as much of it as says what happened
} stress_trial;

// Runs a way with a fault, or with KWI_FAULT_NONE as the control. A scenario runs for `seconds` at
// most; what runs to an end of its own is ended after them.
void stress_trial_run(const stress_way *way, kwi_fault fault, double seconds, uint32_t seed,
                      const stress_options *options, stress_trial *out_trial);

// Whether a run of the way depends on its seed and its seconds.
static inline bool stress_way_is_random(const stress_way *way)
{
    return way->kind == STRESS_WAY_SCENARIO || way->kind == STRESS_WAY_RACE;
}

// What the way is called in tables.
void stress_way_name(const stress_way *way, char *buffer, size_t size);

#endif // STRESS_FAULTS_FAULTS_RUN_H
