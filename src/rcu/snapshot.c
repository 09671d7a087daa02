// Snapshots: pinning a version for the calling thread.
//
// Layer:   rcu
// Threads: a snapshot belongs to the thread that opened it.
// SPDX-License-Identifier: MIT

#include <keyway/snapshot.h>

#include "base/schedule.h"
#include "base/seen.h"
#include "base/yield.h"
#include "rcu/fence.h"
#include "rcu/pins.h"
#include "rcu/section.h"
#include "rcu/thread.h"
#include "rcu/version.h"

// The pin is stored inside the section that read the version: a commit that makes a table of this
// version unreachable waits for the section, and then sees the pin.
static void pin_newest(kwi_thread_block *block)
{
    kwi_pin_prepare(block);
    kwi_section section = kwi_section_enter();
    KWI_STEP(LOAD_VERSION, &kwi_version.newest);
    uint64_t version = kwi_u64_load_acquire(&kwi_version.newest); // [pair: version]
    if (KWI_FAULT(PIN_OUTSIDE_SECTION)) {
        kwi_section_leave(section);
        KWI_YIELD_OFTEN();
        section = kwi_section_enter();
    }
    KWI_YIELD_OFTEN();
    kwi_pin(block, version);
    KWI_SEEN_IN_SCAN(SNAPSHOT_IN_SCAN);
    kwi_section_leave(section);
}

kw_status kw_snapshot_open(kw_snapshot *out_snapshot)
{
    if (out_snapshot == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_thread_block *block = kwi_thread_attach();
    if (block == NULL) {
        return KW_NO_MEMORY;
    }
    uint64_t outer = kwi_u64_load_relaxed(&block->hot.pinned); // relaxed: its own word
    if (outer == KWI_NOT_PINNED || KWI_FAULT(NESTED_SNAPSHOT_REPINS)) {
        pin_newest(block);
    }
    kwi_snapshot_push(block, outer, out_snapshot);
    return KW_OK;
}

kw_status kw_snapshot_close(kw_snapshot *snapshot)
{
    if (snapshot == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_thread_block *block = kwi_thread_current();
    if (block == NULL || snapshot->thread != block || snapshot->depth != block->snapshot_count ||
        snapshot->depth == 0) {
        return KW_WRONG_ORDER;
    }
    block->hot.limit = snapshot->was_limited != 0 ? &block->hot.pinned : &kwi_version.newest;
    kwi_light_fence(); // for handlers on this thread
    KWI_STEP(UNPIN, &block->hot.pinned);
    // Every call made under the pin comes before this store: [pair: pin]
    kwi_u64_store_release(&block->hot.pinned, snapshot->outer);
    KWI_SEEN_IN_SCAN(CLOSE_IN_SCAN);
    block->snapshot_count--;
    snapshot->depth = 0;
    return KW_OK;
}

uint64_t kw_version(void)
{
    KWI_STEP(LOAD_VERSION, &kwi_version.newest);
    return kwi_u64_load_acquire(&kwi_version.newest); // [pair: version]
}
