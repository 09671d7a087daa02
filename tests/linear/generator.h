// The generator: what a thread does next, decided by a seed and by what was registered when all
// threads last met.
//
// Layer:   test
// Threads: each thread has a generator of its own; the plan is only read while they run.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_GENERATOR_H
#define TESTS_LINEAR_GENERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "linear/operation.h"

// What is registered, as far as threads know that take things away.
typedef struct linear_plan {
    uint16_t marks[REFERENCE_REGISTRATIONS];
    uint32_t mark_count;
    bool is_closed[LINEAR_LIBRARIES];
    uint32_t add_limit; // of one thread, so that the reference has room for all
} linear_plan;

typedef struct linear_generator {
    uint32_t random; // never 0
    uint16_t next_mark;
    uint16_t own[REFERENCE_REGISTRATIONS]; // marks of this window's own registrations
    uint32_t own_count;
    uint32_t add_count;  // of this window
    uint8_t last_closed; // by this thread in this window, or LINEAR_LIBRARIES
} linear_generator;

typedef enum linear_action {
    LINEAR_DO_QUESTION,
    LINEAR_DO_CHANGE,
    LINEAR_DO_SNAPSHOT, // opens one or closes it
    LINEAR_DO_HAND_OVER,
    LINEAR_DO_VERSION,
    LINEAR_DO_DRAIN,
    LINEAR_DO_RECLAIM,
} linear_action;

uint32_t linear_dice(linear_generator *generator, uint32_t sides);

linear_action linear_generate_action(linear_generator *generator);

// A call or look-up; `newest_too` allows one that snapshots do not cover.
reference_operation linear_generate_question(linear_generator *generator, bool newest_too);

// A transaction of one to four changes; of one change, `entry` says that no transaction is wanted.
reference_operation linear_generate_change(linear_generator *generator, const linear_plan *plan);

// Begins a window.
void linear_generator_begin(linear_generator *generator);

// After a change: what was registered may be taken away by its thread at once, and what was closed
// be drained.
void linear_generator_settle(linear_generator *generator, const reference_operation *change,
                             kw_status status);

unsigned linear_generate_drained(linear_generator *generator);

#endif // TESTS_LINEAR_GENERATOR_H
