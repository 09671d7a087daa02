// Announcing: how a thread finds the block of its version and says that it is in use.
//
// Layer:   rcu
// Threads: the calling thread, in any context that may run code of the host, signal handlers
//          included.
// SPDX-License-Identifier: MIT
//
// Note [Announce, then leave]
//
// The plain form. A reader loads a published block inside a section, stores the announcement inside
// the same section, and leaves. A writer that has made the block unreachable waits for a grace
// period and only then reads the announcements. A section that had loaded the block either began
// before the grace period, which then waited for it, so its announcement is stored and visible; or
// it began after the block was made unreachable and did not load it. Nobody holds a block unseen,
// and no section lasts longer than these few instructions.
//
// Note [Limit]
//
// The version a reader may see is the smaller of its pin and the newest version. Without the
// second, a thread could run a table of a commit whose version is not published yet and then pin
// the version before it: it would see a commit and then not see it.
//
// A pin is not above the newest version, so a thread's `limit` leads to the one word that decides:
// its own pin while it has one. It leads there after the pin is stored and until the pin is given
// up, so that it never leads to KWI_NOT_PINNED; a signal handler that comes in between puts back
// what it found.

#ifndef KWI_RCU_ANNOUNCE_H
#define KWI_RCU_ANNOUNCE_H

#include <keyway/inline/table.h>

#include "base/schedule.h"
#include "base/seen.h"
#include "base/yield.h"
#include "rcu/thread.h"
#include "rcu/version.h"

typedef struct kwi_announced {
    const kwi_block *block; // NULL: no memory for the announcement
    size_t depth;           // the number of the announcement: what the end goes back to
} kwi_announced;

// Inside a section: the block of the chain at `root` that the thread may see.
static inline const kwi_block *kwi_chain_find(const kwi_ptr_cell *root, uint64_t pinned)
{
    KWI_STEP(LOAD_VERSION, &kwi_version.newest);
    uint64_t newest = kwi_u64_load_acquire(&kwi_version.newest); // [pair: version]
    uint64_t limit = newest < pinned && !KWI_FAULT(LIMIT_WITHOUT_VERSION) ? newest : pinned;
    KWI_YIELD();
    KWI_STEP(LOAD_ROOT, root);
    const kwi_block *block = kwi_ptr_load_acquire(root); // [pair: table-publish]
    KWI_YIELD();
    KWI_SEEN_WHEN(block->version > limit && limit != pinned, TABLE_BEFORE_VERSION);
    KWI_SEEN_WHEN(block->version > pinned, OLDER_TABLE);
    while (block->version > limit) {
        KWI_STEP(LOAD_OLDER, block);
        block = kwi_ptr_load_acquire(&block->older); // [pair: table-older]
        KWI_YIELD_OFTEN();
    }
    return block;
}

static inline void kwi_slot_store(kwi_ptr_cell *slot, const kwi_block *block)
{
    if (KWI_FAULT(RELAXED_SLOT_STORE)) {
        kwi_ptr_store_relaxed(slot, block); // relaxed: that is the fault
        return;
    }
    kwi_ptr_store_release(slot, block); // [pair: announce]
}

// The two stores that announce, in the order of R1. [pair: announce]
static inline void kwi_announce_store(kw_thread *thread, uint32_t depth, kwi_ptr_cell *slot,
                                      const kwi_block *block)
{
    if (KWI_FAULT(SLOT_BEFORE_DEPTH)) {
        KWI_STEP(SLOT, slot);
        kwi_ptr_store_release(slot, block); // [pair: announce]
        KWI_YIELD_OFTEN();
        KWI_STEP(DEPTH, &thread->depth);
        kwi_u32_store_release(&thread->depth, depth + 1); // [pair: announce]
        return;
    }
    KWI_SEEN_ANNOUNCE_BEGIN();
    KWI_STEP(DEPTH, &thread->depth);
    kwi_u32_store_release(&thread->depth, depth + 1); // [pair: announce]
    KWI_YIELD_HERE();
    KWI_STEP(SLOT, slot);
    kwi_slot_store(slot, block);
    KWI_SEEN_ANNOUNCE_END();
}

// The plain form, for every case that the fast path leaves: not attached, no room in the block, an
// older block wanted than the newest, a commit in between, no membarrier in the kernel. Attaches
// the thread; needs no memory otherwise, but for nesting deeper than any before it on this thread's
// block.
KW_COLD kwi_announced kwi_announce_slowly(const kwi_ptr_cell *root);

#endif // KWI_RCU_ANNOUNCE_H
