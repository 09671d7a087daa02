// Announcing on the fast path: the section of liburcu-bp written out around the two stores.
//
// Layer:   rcu
// Threads: the calling thread, in any context that may run code of the host.
// SPDX-License-Identifier: MIT

#ifndef KWI_RCU_ANNOUNCE_FAST_H
#define KWI_RCU_ANNOUNCE_FAST_H

#include "rcu/announce.h"
#include "rcu/section.h"
#include "rcu/urcu.h"

#if KWI_RCU_HANDTUNED

// With a liburcu whose reader record is known, the section of liburcu-bp is written out, so that
// the calls inside its stock form stay cold. NULL: a case for the plain form, and nothing has
// happened.
//
// A section of the calling thread that is open already, the host's or that of what a signal handler
// interrupts, would have to be counted on; here it is none, so the record gets back what was there.
static inline const kwi_block *kwi_announce_newest(kw_thread *thread, const kwi_ptr_cell *root)
{
    // Relaxed: a thread reads its own words.
    uint32_t depth = kwi_u32_load_relaxed(&thread->depth);
    struct urcu_bp_reader *reader = URCU_TLS(urcu_bp_reader);
    if (KW_UNLIKELY(depth >= thread->capacity) || KW_UNLIKELY(reader == NULL)) {
        return NULL;
    }
    unsigned long outside = reader->ctr;
    if (KW_UNLIKELY(outside & URCU_BP_GP_CTR_NEST_MASK)) {
        return NULL;
    }
    KWI_STEP(ENTER, &reader->ctr);
    _CMM_STORE_SHARED(reader->ctr, CMM_LOAD_SHARED(urcu_bp_gp.ctr));
    cmm_barrier(); // enough: capacity is 0 where the kernel has no membarrier
    uint64_t limit;
    const kwi_block *block = kwi_chain_newest(root, kwi_u64_load_relaxed(&thread->pinned), &limit);
    bool is_wanted = KW_LIKELY(block->version <= limit);
    if (KW_LIKELY(is_wanted) && !KWI_FAULT(ANNOUNCE_AFTER_LEAVING)) {
        kwi_announce_store(thread, depth, &thread->inside[depth], block);
    }
    KWI_TSAN_LEAVE();
    KWI_STEP(LEAVE, &reader->ctr);
    cmm_barrier();
    _CMM_STORE_SHARED(reader->ctr, outside);
    if (is_wanted && KWI_FAULT(ANNOUNCE_AFTER_LEAVING)) {
        KWI_YIELD_OFTEN();
        kwi_announce_store(thread, depth, &thread->inside[depth], block);
    }
    return KW_LIKELY(is_wanted) ? block : NULL;
}

#endif

// The fast path: a leaf that saves no register.
static inline kwi_announced kwi_announce(const kwi_ptr_cell *root)
{
#if KWI_RCU_HANDTUNED
    kw_thread *thread = kwi_thread_self;
    const kwi_block *block = kwi_announce_newest(thread, root);
    if (KW_LIKELY(block != NULL)) {
        return (kwi_announced){block, thread};
    }
#endif
    return kwi_announce_slowly(root);
}

#endif // KWI_RCU_ANNOUNCE_FAST_H
