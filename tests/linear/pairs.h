// Pairs of a set of placed operations and a state: what a search has looked at.
//
// Layer:   test
// Threads: one thread uses a set.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_PAIRS_H
#define TESTS_LINEAR_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct linear_pair {
    uint64_t placed;
    uint64_t state; // its number and 1; 0: the place is free
} linear_pair;

typedef struct linear_pairs {
    linear_pair *places; // open addressing
    uint64_t place_count;
    uint64_t count;
} linear_pairs;

void linear_pairs_init(linear_pairs *pairs);
void linear_pairs_fini(linear_pairs *pairs);

// Whether the pair is new to the set.
bool linear_pairs_add(linear_pairs *pairs, uint64_t placed, uint32_t state);

#endif // TESTS_LINEAR_PAIRS_H
