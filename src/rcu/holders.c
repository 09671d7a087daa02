// Holders: who keeps a retired block from being freed, and since when.
//
// Layer:   rcu
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT

#include "rcu/holders.h"

#include "base/clock.h"
#include "rcu/pins.h"
#include "rcu/shared.h"
#include "rcu/thread.h"

// A look at one block.
typedef struct look {
    const kwi_block *block;
    uint64_t now_ns;
    kwi_hold_visitor visit;
    void *context;
} look;

static uint64_t age(uint64_t now_ns, uint64_t since_ns)
{
    return now_ns > since_ns ? now_ns - since_ns : 0;
}

static bool is_seen_by(const kwi_block *block, uint64_t pin)
{
    return block->state == KWI_BLOCK_LINKED && pin >= block->version && pin < block->hi;
}

static void look_at_calls(const look *in, kwi_thread_block *thread)
{
    const kwi_block *block = in->block;
    bool has_age = block->state == KWI_BLOCK_UNLINKED && block->held_since_ns != 0;
    const kwi_hold hold = {
        .owner = block->owner,
        .kind = KWI_HOLD_CALL,
        .thread_id = kwi_u32_load_relaxed(&thread->thread_id), // relaxed: a label
        .version = block->version,
        .age_ns = has_age ? age(in->now_ns, block->held_since_ns) : UINT64_MAX,
        .is_self = thread == kwi_thread_current(),
    };
    uint32_t depth = kwi_u32_load_acquire(&thread->hot.depth); // [pair: announce]
    for (uint32_t i = 0; i < depth; i++) {
        const kwi_ptr_cell *slot = kwi_thread_inside(thread, i, false);
        if (kwi_ptr_load_acquire(slot) == block) { // [pair: announce]
            in->visit(&hold, in->context);
        }
    }
}

static void look_at_pin(const look *in, const kwi_thread_block *thread)
{
    uint64_t pin = kwi_u64_load_acquire(&thread->hot.pinned); // [pair: pin]
    if (pin == KWI_NOT_PINNED || !is_seen_by(in->block, pin)) {
        return;
    }
    const kwi_hold hold = {
        .owner = in->block->owner,
        .kind = KWI_HOLD_SNAPSHOT,
        .thread_id = kwi_u32_load_relaxed(&thread->thread_id), // relaxed: a label
        .version = pin,
        .age_ns = age(in->now_ns, kwi_u64_load_relaxed(&thread->opened_ns)), // relaxed: see there
        .is_self = thread == kwi_thread_current(),
    };
    in->visit(&hold, in->context);
}

static void look_at_shared(const kw_shared_snapshot *shared, void *context)
{
    const look *in = context;
    if (!is_seen_by(in->block, shared->version)) {
        return;
    }
    const kwi_hold hold = {
        .owner = in->block->owner,
        .kind = KWI_HOLD_SHARED_SNAPSHOT,
        .version = shared->version,
        .age_ns = age(in->now_ns, shared->made_ns),
    };
    in->visit(&hold, in->context);
}

void kwi_holds_visit(const kwi_block *block, kwi_hold_visitor visit, void *context)
{
    look in = {.block = block, .now_ns = kwi_clock_ns(), .visit = visit, .context = context};
    kwi_thread_cursor cursor = {0};
    for (kwi_thread_block *each; (each = kwi_thread_next(&cursor)) != NULL;) {
        look_at_calls(&in, each);
        look_at_pin(&in, each);
    }
    kwi_shared_lock();
    kwi_shared_visit(look_at_shared, &in);
    kwi_shared_unlock();
}

bool kwi_thread_is_inside(void)
{
    const kwi_thread_block *block = kwi_thread_current();
    // Relaxed: a thread reads its own words.
    return block != NULL && (kwi_u32_load_relaxed(&block->hot.depth) > 0 ||
                             kwi_u64_load_relaxed(&block->hot.pinned) != KWI_NOT_PINNED);
}

// The census --------------------------------------------------------------------------------------

typedef struct count {
    kwi_census figures;
    const kwi_reclaimer *reclaimer;
    uint64_t now_ns;
} count;

static void count_pin(count *so_far, uint64_t version, uint64_t since_ns)
{
    kwi_census *figures = &so_far->figures;
    uint64_t age_ns = age(so_far->now_ns, since_ns);
    figures->oldest_version = version < figures->oldest_version ? version : figures->oldest_version;
    figures->oldest_age_ns = age_ns > figures->oldest_age_ns ? age_ns : figures->oldest_age_ns;
}

static void count_shared(const kw_shared_snapshot *shared, void *context)
{
    count *so_far = context;
    so_far->figures.shared_count++;
    count_pin(so_far, shared->version, shared->made_ns);
}

static void count_threads(count *so_far)
{
    kwi_thread_cursor cursor = {0};
    for (const kwi_thread_block *each; (each = kwi_thread_next(&cursor)) != NULL;) {
        uint64_t pin = kwi_u64_load_acquire(&each->hot.pinned); // [pair: pin]
        if (pin != KWI_NOT_PINNED) {
            so_far->figures.snapshot_count++;
            count_pin(so_far, pin, kwi_u64_load_relaxed(&each->opened_ns)); // relaxed: see there
        }
    }
}

static void count_block(const kwi_block *block, void *context)
{
    count *so_far = context;
    kwi_census *figures = &so_far->figures;
    const kwi_words *pins = &so_far->reclaimer->pins;
    if (block->ticket > so_far->reclaimer->done) {
        figures->unripe_count++;
        figures->unripe_bytes += block->bytes;
    }
    size_t at = kwi_words_lower_bound(pins, block->version);
    if (at < pins->count && is_seen_by(block, pins->items[at])) {
        figures->pinned_count++;
        figures->pinned_bytes += block->bytes;
    }
}

kwi_census kwi_census_take(kwi_reclaimer *reclaimer)
{
    count so_far = {
        .figures = {.oldest_version = UINT64_MAX},
        .reclaimer = reclaimer,
        .now_ns = kwi_clock_ns(),
    };
    kwi_shared_lock();
    kwi_shared_visit(count_shared, &so_far);
    kwi_shared_unlock();
    count_threads(&so_far);
    if (!kwi_pins_scan(&reclaimer->pins)) {
        reclaimer->pins.count = 0;
    }
    so_far.figures.version_count = reclaimer->pins.count;
    kwi_reclaim_visit(reclaimer, count_block, &so_far);
    return so_far.figures;
}
