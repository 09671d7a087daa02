// States: those of a specification that a search meets, each kept once and known by its number.
//
// Layer:   test
// Threads: one thread uses a table.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_STATES_H
#define TESTS_LINEAR_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "linear/history.h"
#include "linear/specification.h"

#define LINEAR_NO_STATE UINT32_MAX

typedef struct linear_state {
    void *state;
    uint64_t hash;
    // What each operation of the window makes of it: 0 not tried, 1 illegal, else a number and 2.
    uint32_t next[LINEAR_WINDOW_COUNT];
} linear_state;

typedef struct linear_states {
    const linear_specification *specification;
    linear_state *items;
    uint32_t count;
    uint32_t capacity;
    uint32_t *places; // open addressing; a number and 1, or 0
    uint32_t place_count;
    uint64_t applied_count; // operations that the specification was asked about
} linear_states;

void linear_states_init(linear_states *states, const linear_specification *specification);
void linear_states_fini(linear_states *states);

// The number of the state, or of one that equals it. Owns `take_state` in every case.
uint32_t linear_states_add(linear_states *states, void *take_state);

// The state after the operation, or LINEAR_NO_STATE if it could not answer so. Asks the
// specification once for each state and index.
uint32_t linear_states_apply(linear_states *states, uint32_t state, uint32_t index,
                             const void *operation);

#endif // TESTS_LINEAR_STATES_H
