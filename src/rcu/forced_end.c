// Forced ends: threads that ended inside a call or under a snapshot, until somebody is told.
//
// Layer:   rcu
// Threads: added by the thread that ends; taken under the writer lock.
// SPDX-License-Identifier: MIT

#include "rcu/forced_end.h"

#include <keyway/inline/cell.h>

enum {
    PLACE_FREE = 0,
    PLACE_BEING_WRITTEN = 1,
    PLACE_WRITTEN = 2
};

static struct {
    // guard: cell. Free to being written by compare-and-swap, then by the writer, then by who takes
    // it. [pair: forced-end] stored with release, loaded with acquire.
    kwi_u32_cell state;
    kwi_forced_end end;
} places[KWI_FORCED_END_COUNT];

// guard: cell. Relaxed: a statistic.
static kwi_u64_cell count;

void kwi_forced_end_add(const kwi_forced_end *end)
{
    kwi_u64_add_relaxed(&count, 1); // relaxed: a statistic
    for (size_t i = 0; i < KWI_FORCED_END_COUNT; i++) {
        uint32_t is_free = PLACE_FREE;
        // [pair: forced-end] acquire: who took the last report has copied it.
        if (kwi_u32_compare_exchange_acquire_relaxed(&places[i].state, &is_free,
                                                     PLACE_BEING_WRITTEN)) {
            places[i].end = *end;
            kwi_u32_store_release(&places[i].state, PLACE_WRITTEN); // [pair: forced-end]
            return;
        }
    }
}

size_t kwi_forced_end_take(kwi_forced_end *out_ends)
{
    size_t taken = 0;
    for (size_t i = 0; i < KWI_FORCED_END_COUNT; i++) {
        if (kwi_u32_load_acquire(&places[i].state) == PLACE_WRITTEN) { // [pair: forced-end]
            out_ends[taken++] = places[i].end;
            kwi_u32_store_release(&places[i].state, PLACE_FREE); // [pair: forced-end]
        }
    }
    return taken;
}

uint64_t kwi_forced_end_count(void)
{
    return kwi_u64_load_relaxed(&count); // relaxed: a statistic
}

void kwi_forced_ends_after_fork_child(void)
{
    for (size_t i = 0; i < KWI_FORCED_END_COUNT; i++) {
        kwi_u32_store_relaxed(&places[i].state, PLACE_FREE); // relaxed: there is one thread
    }
}
