// Random: numbers that a seed repeats (splitmix64).
//
// Layer:   example (C library only)
// Threads: owner thread only
// SPDX-License-Identifier: MIT

#ifndef SELFTEST_RANDOM_H
#define SELFTEST_RANDOM_H

#include <stdint.h>

typedef struct selftest_random {
    uint64_t state; // any number
} selftest_random;

/// Returns a number from 0 to `limit` - 1.
static inline unsigned selftest_random_below(selftest_random *random, unsigned limit)
{
    random->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t mixed = random->state;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (unsigned)((mixed ^ (mixed >> 31)) % limit);
}

#endif // SELFTEST_RANDOM_H
