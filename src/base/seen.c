// Interleavings of interest: how a test proves that what it is about has happened.
//
// Layer:   base
// Threads: any, signal handlers included; nothing here orders anything.
// SPDX-License-Identifier: MIT

#include "base/seen.h"

#ifdef KWI_TESTING

#include <signal.h>

#include <keyway/inline/cell.h>

// Some threads share a shard, and no two shards a cache line: counting must not become a meeting
// point of the threads that it watches.
#define SHARD_COUNT 16

typedef struct shard {
    // guard: cell. Relaxed: counts only.
    _Alignas(64) kwi_u64_cell counts[KWI_SEEN_LIMIT];
} shard;

static shard shards[SHARD_COUNT];

// guard: cell. Relaxed: it only spreads threads.
static kwi_u64_cell thread_count;

// guard: cell. Relaxed: what it is used for is counted, and decides nothing.
static kwi_u32_cell is_scanning;

// guard: thread. 0: not chosen yet.
static _Thread_local unsigned own_shard;

// guard: thread. Announcements that the thread is between the two stores of.
static _Thread_local volatile sig_atomic_t announcing;

void kwi_seen_add(kwi_seen what)
{
    if (own_shard == 0) {
        own_shard = 1 + (unsigned)(kwi_u64_add_relaxed(&thread_count, 1) % SHARD_COUNT); // relaxed
    }
    (void)kwi_u64_add_relaxed(&shards[own_shard - 1].counts[what], 1); // relaxed: a count
}

uint64_t kwi_seen_count(kwi_seen what)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < SHARD_COUNT; i++) {
        total += kwi_u64_load_relaxed(&shards[i].counts[what]); // relaxed: a count
    }
    return total;
}

void kwi_seen_scan_set(bool is_ongoing)
{
    kwi_u32_store_relaxed(&is_scanning, is_ongoing ? 1 : 0); // relaxed: see the field
}

bool kwi_seen_scan_is_ongoing(void)
{
    return kwi_u32_load_relaxed(&is_scanning) != 0; // relaxed: see the field
}

bool kwi_seen_announce_begin(void)
{
    return announcing++ != 0;
}

void kwi_seen_announce_end(void)
{
    announcing--;
}

#else

typedef int kwi_seen_is_empty; // ISO C wants a declaration in every file

#endif
