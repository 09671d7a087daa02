// Announcing on the fast path: without a section.
//
// Layer:   rcu
// Threads: the calling thread, in any context that may run code of the host.
// SPDX-License-Identifier: MIT
//
// Note [Announce, then look again]
//
// Most calls want the newest table. They announce what the root says, and look at the root again.
// If the same table is there, the announcement came in time: whoever replaces the table stores the
// root first, then makes a heavy fence, which a grace period begins with, and only then reads the
// announcements. With respect to that fence the reader's stores were made before, and are seen; or
// its second load comes after, and sees the newer root. No byte of the table is read before.
//
// A table that was freed in between, and whose memory has become the operator's newest table again,
// is that table: nothing was remembered of the old one but the address.
//
// What the second look finds out, and all else, is left to the plain form, which stands in a
// section. include/keyway/inline/call.h has these steps once more, for the code of users.

#ifndef KWI_RCU_ANNOUNCE_FAST_H
#define KWI_RCU_ANNOUNCE_FAST_H

#include "rcu/announce.h"
#include "rcu/fence.h"

static inline uint64_t kwi_limit_load(const kw_thread *thread)
{
    KWI_STEP(LOAD_VERSION, thread->limit);
    if (KWI_FAULT(LIMIT_WITHOUT_VERSION)) {
        return kwi_u64_load_relaxed(&thread->pinned); // relaxed: its own word
    }
    return kwi_u64_load_acquire(thread->limit); // [pair: version]
}

// NULL: a case for the plain form, and nothing has happened.
static inline const kwi_block *kwi_announce_newest(kw_thread *thread, size_t depth,
                                                   const kwi_ptr_cell *root)
{
    uint64_t limit = kwi_limit_load(thread);
    KWI_YIELD();
    KWI_STEP(LOAD_ROOT, root);
    const kwi_block *block = kwi_ptr_load_acquire(root); // [pair: table-publish]
    KWI_YIELD();
    kwi_announce_store(thread, (uint32_t)depth, kwi_thread_slot(thread, depth), block);
    if (KWI_FAULT(ANNOUNCE_UNCHECKED)) {
        return block;
    }
    kwi_light_fence();
    KWI_STEP(CHECK_ROOT, root);
    bool is_newest = kwi_ptr_load_acquire(root) == block; // [pair: table-publish]
    KWI_SEEN_WHEN(!is_newest, LATE_ANNOUNCEMENT);
    if (KW_LIKELY(is_newest) && KW_LIKELY(block->version <= limit)) {
        return block;
    }
    KWI_STEP(POP, &thread->depth);
    kwi_u32_store_release(&thread->depth, (uint32_t)depth); // [pair: announce]
    return NULL;
}

// A leaf that saves no register.
static inline kwi_announced kwi_announce(const kwi_ptr_cell *root)
{
    kw_thread *thread = kwi_thread_self;
    // Relaxed: a thread reads its own words.
    size_t depth = kwi_u32_load_relaxed(&thread->depth);
    if (KW_LIKELY(depth < thread->capacity)) {
        const kwi_block *block = kwi_announce_newest(thread, depth, root);
        if (KW_LIKELY(block != NULL)) {
            return (kwi_announced){block, depth};
        }
    }
    return kwi_announce_slowly(root);
}

#endif // KWI_RCU_ANNOUNCE_FAST_H
