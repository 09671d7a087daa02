// Holders: who keeps a retired block from being freed.
//
// Layer:   rcu
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT

#include "rcu/holders.h"

#include "rcu/reclaim.h"
#include "rcu/thread.h"

static uint32_t count_announcements(kwi_thread_block *block, const kwi_block *wanted)
{
    uint32_t count = 0;
    uint32_t depth = kwi_u32_load_acquire(&block->hot.depth); // [pair: announce]
    for (uint32_t i = 0; i < depth; i++) {
        const kwi_ptr_cell *slot = kwi_thread_inside(block, i, false);
        if (kwi_ptr_load_acquire(slot) == wanted) { // [pair: announce]
            count++;
        }
    }
    return count;
}

kwi_holders kwi_holders_of(const kwi_block *block)
{
    kwi_holders holders = {0};
    const kwi_thread_block *self = kwi_thread_current();
    kwi_thread_cursor cursor = {0};
    for (kwi_thread_block *each; (each = kwi_thread_next(&cursor)) != NULL;) {
        uint64_t pin = kwi_u64_load_acquire(&each->hot.pinned); // [pair: pin]
        bool pins = pin != KWI_NOT_PINNED && block->state == KWI_BLOCK_LINKED &&
                    pin >= block->version && pin < block->hi;
        uint32_t calls = count_announcements(each, block);
        holders.call_count += calls;
        holders.snapshot_count += pins ? 1 : 0;
        holders.is_self = holders.is_self || (each == self && (pins || calls > 0));
    }
    return holders;
}

bool kwi_thread_is_inside(void)
{
    const kwi_thread_block *block = kwi_thread_current();
    // Relaxed: a thread reads its own words.
    return block != NULL && (kwi_u32_load_relaxed(&block->hot.depth) > 0 ||
                             kwi_u64_load_relaxed(&block->hot.pinned) != KWI_NOT_PINNED);
}
