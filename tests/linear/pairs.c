// Pairs of a set of placed operations and a state: what a search has looked at.
//
// Layer:   test
// Threads: one thread uses a set.
// SPDX-License-Identifier: MIT

#include "linear/pairs.h"

#include "linear/memory.h"

#define FIRST_PLACES 256

void linear_pairs_init(linear_pairs *pairs)
{
    *pairs = (linear_pairs){.place_count = FIRST_PLACES};
    pairs->places = linear_allocate(FIRST_PLACES, sizeof *pairs->places);
}

void linear_pairs_fini(linear_pairs *pairs)
{
    linear_free(pairs->places);
    *pairs = (linear_pairs){0};
}

static linear_pair *place_of(const linear_pairs *pairs, uint64_t placed, uint64_t state)
{
    // The multiplier is 2^64 divided by the golden ratio (Knuth, volume 3, 6.4).
    uint64_t hash = (placed ^ state << 40) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mask = pairs->place_count - 1;
    uint64_t at = (hash >> 32) & mask;
    while (pairs->places[at].state != 0 &&
           (pairs->places[at].placed != placed || pairs->places[at].state != state)) {
        at = (at + 1) & mask;
    }
    return &pairs->places[at];
}

static void grow(linear_pairs *pairs)
{
    linear_pairs old = *pairs;
    pairs->place_count *= 2;
    pairs->places = linear_allocate(pairs->place_count, sizeof *pairs->places);
    for (uint64_t i = 0; i < old.place_count; i++) {
        if (old.places[i].state != 0) {
            *place_of(pairs, old.places[i].placed, old.places[i].state) = old.places[i];
        }
    }
    linear_free(old.places);
}

bool linear_pairs_add(linear_pairs *pairs, uint64_t placed, uint32_t state)
{
    uint64_t key = (uint64_t)state + 1;
    linear_pair *place = place_of(pairs, placed, key);
    if (place->state != 0) {
        return false;
    }
    *place = (linear_pair){placed, key};
    pairs->count++;
    if (2 * pairs->count > pairs->place_count) {
        grow(pairs);
    }
    return true;
}
