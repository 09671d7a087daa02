// Pins: the words that keep versions, of threads and of shared snapshots, and how they are scanned.
//
// Layer:   rcu
// Threads: a pin is stored by its thread; the scan runs under the writer lock.
// SPDX-License-Identifier: MIT

#include "rcu/pins.h"

#include "base/clock.h"
#include "base/schedule.h"
#include "base/yield.h"
#include "rcu/shared.h"

void kwi_pin_prepare(kwi_thread_block *block)
{
    kwi_u64_store_relaxed(&block->opened_ns, kwi_clock_tick_ns()); // relaxed: see the field
}

void kwi_pin(kwi_thread_block *block, uint64_t version)
{
    KWI_STEP(PIN, &block->hot.pinned);
    kwi_u64_store_release(&block->hot.pinned, version); // [pair: pin]
}

void kwi_snapshot_push(kwi_thread_block *block, uint64_t outer, kw_snapshot *out_snapshot)
{
    block->snapshot_count++;
    bool was_limited = block->hot.limit == &block->hot.pinned;
    block->hot.limit = &block->hot.pinned;
    *out_snapshot = (kw_snapshot){
        .version = kwi_u64_load_relaxed(&block->hot.pinned), // relaxed: its own word
        .outer = outer,
        .thread = block,
        .depth = block->snapshot_count,
        .was_limited = was_limited,
    };
}

static bool scan_threads(kwi_words *pins)
{
    kwi_thread_cursor cursor = {0};
    for (kwi_thread_block *block; (block = kwi_thread_next(&cursor)) != NULL;) {
        KWI_STEP(SCAN_PIN, &block->hot.pinned);
        uint64_t pin = kwi_u64_load_acquire(&block->hot.pinned); // [pair: pin]
        if (pin != KWI_NOT_PINNED && !kwi_words_add(pins, pin)) {
            return false;
        }
    }
    return true;
}

// P3: one critical section for both.
static bool scan_all(kwi_words *pins)
{
    kwi_shared_lock();
    bool is_complete = kwi_shared_scan(pins);
    if (KWI_FAULT(SHARED_SCANNED_APART)) {
        kwi_shared_unlock();
        KWI_YIELD_OFTEN();
        kwi_shared_lock();
    }
    is_complete = is_complete && scan_threads(pins);
    kwi_shared_unlock();
    return is_complete;
}

bool kwi_pins_scan(kwi_words *pins)
{
    pins->count = 0;
    if (!scan_all(pins)) {
        return false;
    }
    kwi_words_sort(pins);
    size_t distinct = 0;
    for (size_t i = 0; i < pins->count; i++) {
        if (distinct == 0 || pins->items[distinct - 1] != pins->items[i]) {
            pins->items[distinct++] = pins->items[i];
        }
    }
    pins->count = distinct;
    return true;
}
