// Orders: a fingerprint of which steps came before which.
//
// Layer:   stress
// Threads: the one that runs.
// SPDX-License-Identifier: MIT

#include "explore/order.h"

#include <stddef.h>
#include <stdlib.h>

#define OBJECT_COUNT 4096 // places of the hash table

typedef struct object {
    const void *address;
    uint64_t execution; // in which it was used last
    uint64_t write;     // fingerprint of the last write
    uint64_t reads;     // of the reads since, in any order
} object;

static object objects[OBJECT_COUNT];
static uint64_t execution;

uint64_t explore_mix(uint64_t a, uint64_t b)
{
    // Two rounds of the finish of SplitMix64 (Steele, Lea and Flood, 2014).
    uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

void explore_order_begin(void)
{
    execution++;
}

static object *find(const void *address)
{
    size_t at = explore_mix((uintptr_t)address, 0) % OBJECT_COUNT;
    for (size_t i = 0; i < OBJECT_COUNT; i++, at = (at + 1) % OBJECT_COUNT) {
        object *each = &objects[at];
        if (each->execution != execution) {
            *each = (object){.address = address, .execution = execution};
            return each;
        }
        if (each->address == address) {
            return each;
        }
    }
    abort(); // a case with thousands of objects is not a small one
}

uint64_t explore_order_access(uint64_t thread, const void *address, bool writes)
{
    object *at = find(address);
    uint64_t now = explore_mix(explore_mix(thread, (uintptr_t)address), at->write);
    if (writes) {
        now = explore_mix(now, at->reads);
        at->write = now;
        at->reads = 0;
    } else {
        at->reads += explore_mix(now, 1);
    }
    return now;
}
