// Reclamation: what becomes of a block from its retirement to its end.
//
// Layer:   rcu
// Threads: every function runs under the writer lock; none waits.
// SPDX-License-Identifier: MIT

#include "rcu/reclaim.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/yield.h"
#include "rcu/pins.h"
#include "rcu/thread.h"

void kwi_retire(kwi_reclaimer *reclaimer, kwi_block *block, kwi_block *newer, uint64_t hi)
{
    KWI_ASSERT(block->state == KWI_BLOCK_NEWEST);
    block->state = KWI_BLOCK_LINKED;
    block->hi = hi;
    block->newer = newer;
    block->ticket = reclaimer->tick + 1; // the one that kwi_reclaim_ticket() gives out
    block->next = reclaimer->retired;
    reclaimer->retired = block;
    reclaimer->retired_count++;
    reclaimer->retired_bytes += block->bytes;
}

uint64_t kwi_reclaim_ticket(kwi_reclaimer *reclaimer)
{
    return ++reclaimer->tick;
}

static uint32_t load_depth(const kwi_thread_block *block)
{
    if (KWI_FAULT(RELAXED_SCAN)) {
        return kwi_u32_load_relaxed(&block->hot.depth); // relaxed: that is the fault
    }
    return kwi_u32_load_acquire(&block->hot.depth); // [pair: announce]
}

static uintptr_t load_announced(const kwi_ptr_cell *slot)
{
    if (KWI_FAULT(RELAXED_SCAN)) {
        return (uintptr_t)kwi_ptr_load_relaxed(slot); // relaxed: that is the fault
    }
    return (uintptr_t)kwi_ptr_load_acquire(slot); // [pair: announce]
}

static bool scan_thread(kwi_words *announced, kwi_thread_block *block)
{
    uint32_t depth = load_depth(block);
    uint32_t first = KWI_FAULT(TOP_ANNOUNCEMENT_ONLY) && depth > 0 ? depth - 1 : 0;
    for (uint32_t i = first; i < depth; i++) {
        const kwi_ptr_cell *slot = kwi_thread_inside(block, i, false);
        KWI_ASSERT(slot != NULL); // its chunk is linked before the depth that needs it rises
        if (!kwi_words_add(announced, load_announced(slot))) {
            return false;
        }
    }
    return true;
}

static bool scan_announcements(kwi_words *announced)
{
    announced->count = 0;
    if (KWI_FAULT(IGNORE_ANNOUNCEMENTS)) {
        return true;
    }
    kwi_thread_cursor cursor = {0};
    for (kwi_thread_block *block; (block = kwi_thread_next(&cursor)) != NULL;) {
        if (!scan_thread(announced, block)) {
            return false;
        }
    }
    kwi_words_sort(announced);
    return true;
}

// C2: the order of the two.
static bool scan_reader_words(kwi_reclaimer *reclaimer) KWI_REQUIRES(kwi_role_writer)
{
    if (KWI_FAULT(ANNOUNCEMENTS_BEFORE_PINS)) {
        bool scanned = scan_announcements(&reclaimer->announced);
        KWI_YIELD_OFTEN();
        return scanned && kwi_pins_scan(&reclaimer->pins);
    }
    if (!kwi_pins_scan(&reclaimer->pins)) {
        return false;
    }
    KWI_YIELD_OFTEN();
    return scan_announcements(&reclaimer->announced);
}

static void keep(kwi_reclaimer *reclaimer, kwi_block *block)
{
    block->next = reclaimer->retired;
    reclaimer->retired = block;
}

static void keep_for_pin(kwi_reclaimer *reclaimer, kwi_block *block, uint64_t pin)
{
    kwi_bucket *empty = NULL;
    for (size_t i = 0; i < KWI_BUCKET_COUNT; i++) {
        kwi_bucket *bucket = &reclaimer->buckets[i];
        if (bucket->blocks != NULL && bucket->pin == pin) {
            block->next = bucket->blocks;
            bucket->blocks = block;
            return;
        }
        if (bucket->blocks == NULL && empty == NULL) {
            empty = bucket;
        }
    }
    if (empty == NULL) {
        keep(reclaimer, block); // more distinct pins than buckets: looked at again
        return;
    }
    block->next = NULL;
    *empty = (kwi_bucket){.pin = pin, .blocks = block};
}

// Empties the buckets whose pin has gone into the list to be looked at.
static void open_buckets(kwi_reclaimer *reclaimer)
{
    for (size_t i = 0; i < KWI_BUCKET_COUNT; i++) {
        kwi_bucket *bucket = &reclaimer->buckets[i];
        if (bucket->blocks == NULL || kwi_words_has(&reclaimer->pins, bucket->pin)) {
            continue;
        }
        for (kwi_block *block = bucket->blocks, *next; block != NULL; block = next) {
            next = block->next;
            keep(reclaimer, block);
        }
        bucket->blocks = NULL;
    }
}

static void unlink_block(kwi_block *block)
{
    kwi_block *older = kwi_ptr_load_relaxed(&block->older); // relaxed: written under the lock
    // Readers skip the block from here on; its own `older` stays for those who stand on it.
    kwi_ptr_store_release(&block->newer->older, older); // [pair: table-older]
    if (older->state != KWI_BLOCK_PERMANENT) {
        older->newer = block->newer;
    }
    block->held_since_ns = 0;
    block->state = KWI_BLOCK_UNLINKED;
}

// The decision for one block: true if it is free now. Otherwise it has been put where it waits.
static bool decide(kwi_reclaimer *reclaimer, kwi_block *block)
{
    if (block->ticket > reclaimer->done && !KWI_FAULT(UNRIPE_RECLAIMED)) {
        keep(reclaimer, block); // C1
        return false;
    }
    const kwi_words *pins = &reclaimer->pins;
    if (block->state == KWI_BLOCK_LINKED) {
        size_t at = kwi_words_lower_bound(pins, block->version);
        if (at < pins->count && pins->items[at] < block->hi && !KWI_FAULT(IGNORE_PINS)) {
            keep_for_pin(reclaimer, block, pins->items[at]); // C3
            return false;
        }
        unlink_block(block);
        if (at > 0 && !KWI_FAULT(MIDDLE_FREED_AT_ONCE)) {
            if (!KWI_FAULT(NO_NEW_TICKET)) {
                block->ticket = reclaimer->tick + 1; // C4
            }
            keep(reclaimer, block);
            return false;
        }
    }
    if (kwi_words_has(&reclaimer->announced, (uintptr_t)block)) {
        if (block->held_since_ns == 0) {
            block->held_since_ns = kwi_clock_ns(); // see Note [How long a call has lasted]
        }
        keep(reclaimer, block); // C5
        return false;
    }
    return true;
}

kwi_block *kwi_reclaim_pass(kwi_reclaimer *reclaimer, uint64_t ticket)
{
    if (reclaimer->done < ticket) {
        reclaimer->done = ticket;
    }
    if (reclaimer->retired_count == 0) {
        return NULL;
    }
    if (!scan_reader_words(reclaimer)) {
        return NULL;
    }
    open_buckets(reclaimer);
    kwi_block *work = reclaimer->retired;
    reclaimer->retired = NULL;
    kwi_block *freed = NULL;
    for (kwi_block *block = work, *next; block != NULL; block = next) {
        next = block->next;
        if (decide(reclaimer, block)) {
            reclaimer->retired_count--;
            reclaimer->retired_bytes -= block->bytes;
            block->next = freed;
            freed = block;
        }
    }
    return freed;
}

bool kwi_reclaim_wants_grace(const kwi_reclaimer *reclaimer)
{
    for (const kwi_block *block = reclaimer->retired; block != NULL; block = block->next) {
        if (block->ticket > reclaimer->done) {
            return true;
        }
    }
    return false;
}

static void visit_list(const kwi_block *block, void (*visit)(const kwi_block *, void *),
                       void *context)
{
    for (; block != NULL; block = block->next) {
        visit(block, context);
    }
}

void kwi_reclaim_visit(const kwi_reclaimer *reclaimer,
                       void (*visit)(const kwi_block *block, void *context), void *context)
{
    visit_list(reclaimer->retired, visit, context);
    for (size_t i = 0; i < KWI_BUCKET_COUNT; i++) {
        visit_list(reclaimer->buckets[i].blocks, visit, context);
    }
}
