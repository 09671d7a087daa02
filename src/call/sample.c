// Sampling: whether an observer with a probability is told of this call.
//
// Layer:   call
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#include "call/sample.h"

#define LN_2 0.69314718055994531

// guard: cell. Relaxed: only uniqueness matters. Threads that get the same block one after the
// other begin with different seeds.
static kwi_u64_cell newest_seed;

// SplitMix64 (Steele, Lea and Flood, 2014).
static uint64_t mix(uint64_t word)
{
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

static uint64_t next_random(kwi_observing *observing)
{
    if (KW_UNLIKELY(observing->random == 0)) {
        uint64_t number = kwi_u64_add_relaxed(&newest_seed, 1); // relaxed: see there
        observing->random = mix((uintptr_t)observing + number * UINT64_C(0x9e3779b97f4a7c15)) | 1;
    }
    observing->random += UINT64_C(0x9e3779b97f4a7c15);
    return mix(observing->random);
}

// -ln(x) for 0 < x <= 1: the exponent, and 32 bits of the logarithm by repeated squaring. The
// library does without libm.
static double minus_ln(double x)
{
    double log2 = 0;
    while (x < 1) {
        x *= 2;
        log2 += 1;
    }
    double bit = 0.5;
    for (int i = 0; i < 32; i++) {
        x *= x;
        if (x >= 2) {
            x /= 2;
            log2 -= bit;
        }
        bit /= 2;
    }
    return log2 * LN_2;
}

// How many calls to count: 1 is the next one.
static uint32_t draw_distance(kwi_observing *observing, double rate)
{
    double uniform = ((double)(next_random(observing) >> 11) + 0.5) * 0x1p-53;
    double distance = 1 + minus_ln(uniform) / rate;
    return distance < UINT32_MAX ? (uint32_t)distance : UINT32_MAX;
}

bool kwi_sample_draw(kwi_observing *observing, const kwi_observer *observer)
{
    if (observer->rate == 0) {
        return next_random(observing) < observer->threshold;
    }
    uint32_t number = (uint32_t)observer->number;
    struct kwi_countdown *countdown = &observing->countdowns[number % KWI_COUNTDOWN_COUNT];
    if (KW_UNLIKELY(countdown->observer != number || countdown->left == 0)) {
        countdown->observer = number;
        countdown->left = draw_distance(observing, observer->rate);
    }
    if (--countdown->left > 0) {
        return false;
    }
    return true; // 0 left: the next call draws
}
