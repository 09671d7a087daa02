// Shared snapshots: counted pins that belong to no thread, in a list that the scan reads.
//
// Layer:   rcu
// Threads: any; see the functions.
// SPDX-License-Identifier: MIT

#include "rcu/shared.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/schedule.h"
#include "base/text.h"
#include "base/yield.h"
#include "rcu/pins.h"
#include "rcu/thread.h"

// guard: lock shared.
static kw_shared_snapshot *first KWI_GUARDED_BY(kwi_role_shared);

void kwi_shared_lock(void) KWI_UNCHECKED
{
    kwi_lock(KWI_LOCK_SHARED);
}

void kwi_shared_unlock(void) KWI_UNCHECKED
{
    kwi_unlock(KWI_LOCK_SHARED);
}

static void link_in(kw_shared_snapshot *shared) KWI_REQUIRES(kwi_role_shared)
{
    shared->next = first;
    shared->link = &first;
    if (first != NULL) {
        first->link = &shared->next;
    }
    first = shared;
}

static void unlink_from(kw_shared_snapshot *shared) KWI_REQUIRES(kwi_role_shared)
{
    if (shared->link == NULL) {
        return; // only a seeded fault keeps an object out of the list
    }
    *shared->link = shared->next;
    if (shared->next != NULL) {
        shared->next->link = shared->link;
    }
    shared->link = NULL;
}

// P2: the caller's thread has the version pinned.
static kw_status share_pin(kwi_thread_block *block, kw_shared_snapshot **out_shared, kw_error *err)
{
    kw_shared_snapshot *shared = kwi_allocate(sizeof *shared);
    if (shared == NULL) {
        return kwi_fail_memory(err);
    }
    shared->version = kwi_u64_load_relaxed(&block->hot.pinned); // relaxed: its own word
    shared->made_ns = kwi_clock_tick_ns();
    kwi_u64_store_relaxed(&shared->reference_count, 1); // relaxed: nobody else has it
#ifdef KWI_TESTING
    shared->origin = &block->hot.pinned;
#endif
    kwi_shared_lock();
    if (!KWI_FAULT(PIN_COPIED)) {
        link_in(shared);
    }
    kwi_shared_unlock();
    *out_shared = shared;
    return KW_OK;
}

kw_status kw_snapshot_share(const kw_snapshot *open, kw_shared_snapshot **out_shared, kw_error *err)
{
    if (open == NULL || out_shared == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "sharing needs an open snapshot and a place for the shared one");
    }
    kwi_thread_block *block = kwi_thread_current();
    if (block == NULL || open->thread != block || open->depth == 0 ||
        open->depth > block->snapshot_count) {
        return kwi_fail(err, KW_WRONG_ORDER,
                        "the snapshot is not open on this thread; share it before it is closed, on "
                        "the thread that opened it");
    }
    return share_pin(block, out_shared, err);
}

kw_status kw_shared_snapshot_create(kw_shared_snapshot **out_shared, kw_error *err)
{
    kw_snapshot own;
    if (out_shared == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "there is no place for the shared snapshot");
    }
    kw_status status = kw_snapshot_open(&own);
    if (status != KW_OK) {
        return kwi_fail(err, status, "the thread could not be attached");
    }
    status = kw_snapshot_share(&own, out_shared, err);
    kw_status closed = kw_snapshot_close(&own);
    KWI_ASSERT(closed == KW_OK);
    (void)closed;
    return status;
}

kw_shared_snapshot *kw_shared_snapshot_retain(kw_shared_snapshot *shared)
{
    if (shared != NULL) {
        KWI_STEP(COUNT, &shared->reference_count);
        uint64_t before =
            kwi_u64_add_relaxed(&shared->reference_count, 1); // relaxed: see the field
        KWI_ASSERT(before > 0);
        (void)before;
    }
    return shared;
}

void kw_shared_snapshot_release(kw_shared_snapshot *shared)
{
    if (shared == NULL) {
        return;
    }
    KWI_STEP(COUNT, &shared->reference_count);
    // The pins that threads took from it are stored before this: [pair: shared-count]
    if (kwi_u64_sub_release(&shared->reference_count, 1) > 1) {
        return;
    }
    // What others did with their references is before this: [pair: shared-count]
    uint64_t left = kwi_u64_load_acquire(&shared->reference_count);
    KWI_ASSERT(left == 0);
    (void)left;
    kwi_shared_lock();
    unlink_from(shared);
    kwi_shared_unlock();
    kwi_free(shared, sizeof *shared);
}

uint64_t kw_shared_snapshot_version(const kw_shared_snapshot *shared)
{
    return shared != NULL ? shared->version : 0;
}

#ifdef KWI_TESTING
// What the faults of entering leave of the object's version.
static uint64_t version_by_fault(kw_shared_snapshot *shared)
{
    uint64_t copied = kwi_u64_load_acquire(shared->origin);          // [pair: pin]
    uint64_t count = kwi_u64_load_relaxed(&shared->reference_count); // relaxed: only a fault
    if (KWI_FAULT(SHARED_RELEASED_FIRST) && count == 1) {
        kwi_shared_lock();
        unlink_from(shared);
        kwi_shared_unlock();
    }
    KWI_YIELD_OFTEN();
    return KWI_FAULT(PIN_COPIED) && copied != KWI_NOT_PINNED ? copied : shared->version;
}
#define ENTERED_VERSION(shared) version_by_fault(shared)
#else
#define ENTERED_VERSION(shared) ((shared)->version)
#endif

kw_status kw_shared_snapshot_enter(kw_shared_snapshot *shared, kw_snapshot *out_snapshot)
{
    if (shared == NULL || out_snapshot == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    KWI_ASSERT(kwi_u64_load_relaxed(&shared->reference_count) > 0); // relaxed: the caller's counts
    kwi_thread_block *block = kwi_thread_attach();
    if (block == NULL) {
        return KW_NO_MEMORY;
    }
    uint64_t outer = kwi_u64_load_relaxed(&block->hot.pinned); // relaxed: its own word
    if (outer != KWI_NOT_PINNED && outer != shared->version) {
        return KW_OTHER_VERSION;
    }
    if (outer == KWI_NOT_PINNED) {
        // No section is needed, because the caller's reference keeps the object in the list until
        // after this store, and a scan reads list and words as one (P3).
        kwi_pin_prepare(block);
        kwi_pin(block, ENTERED_VERSION(shared));
    }
    kwi_snapshot_push(block, outer, out_snapshot);
    return KW_OK;
}

bool kwi_shared_scan(kwi_words *pins)
{
    for (const kw_shared_snapshot *each = first; each != NULL; each = each->next) {
        if (!KWI_FAULT(SHARED_NOT_SCANNED) && !kwi_words_add(pins, each->version)) {
            return false;
        }
    }
    return true;
}

void kwi_shared_visit(void (*visit)(const kw_shared_snapshot *shared, void *context), void *context)
{
    for (const kw_shared_snapshot *each = first; each != NULL; each = each->next) {
        visit(each, context);
    }
}
