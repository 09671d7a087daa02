// Seen: the states that were reached before, and with how many preemptions left.
//
// Layer:   stress
// Threads: the one that runs.
// SPDX-License-Identifier: MIT

#include "explore/seen.h"

#include <stdlib.h>
#include <string.h>

#include "explore/engine.h"
#include "explore/report.h"

#define FIRST_CAPACITY ((size_t)1 << 16)

// By who runs: preemptions left plus one; 0: not reached so.
typedef struct entry {
    uint64_t state;  // 0: free
    uint64_t memory; // its fingerprint of memory
    uint16_t best[EXPLORE_NOBODY + 1];
} entry;

static entry *entries;
static size_t capacity;
static size_t count;

static entry *place_of(uint64_t state)
{
    size_t at = state & (capacity - 1);
    while (entries[at].state != 0 && entries[at].state != state) {
        at = (at + 1) & (capacity - 1);
    }
    return &entries[at];
}

static void resize(size_t wanted)
{
    entry *before = entries;
    size_t before_count = capacity;
    entries = calloc(wanted, sizeof *entries);
    if (entries == NULL) {
        explore_fail("memory", "there is no memory for more states");
    }
    capacity = wanted;
    for (size_t i = 0; i < before_count; i++) {
        if (before[i].state != 0) {
            *place_of(before[i].state) = before[i];
        }
    }
    free(before);
}

void explore_seen_begin(void)
{
    free(entries);
    entries = NULL;
    capacity = 0;
    count = 0;
    resize(FIRST_CAPACITY);
}

static bool is_covered(const entry *at, unsigned runs, uint16_t now)
{
    for (unsigned other = 0; other < EXPLORE_NOBODY; other++) {
        if (at->best[other] >= now + (other == runs ? 0 : 1)) {
            return true;
        }
    }
    return at->best[EXPLORE_NOBODY] >= now;
}

bool explore_seen_add(uint64_t state, uint64_t memory, unsigned runs, uint8_t left)
{
    if (2 * count >= capacity) {
        resize(2 * capacity);
    }
    entry *at = place_of(state | 1);
    uint16_t now = (uint16_t)(left + 1);
    if (at->state == 0) {
        at->state = state | 1;
        at->memory = memory;
        count++;
        explore_report_now->states++;
    } else if (at->memory != memory) {
        explore_fail("reduction", "two executions with the same order of steps differ: some step "
                                  "reads or writes more than it says");
    } else if (is_covered(at, runs, now)) {
        return false;
    }
    at->best[runs] = now;
    return true;
}
