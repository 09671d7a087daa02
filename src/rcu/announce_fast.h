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

// The fast path: a leaf that saves no register. With a liburcu whose reader record is known it is
// the section of liburcu-bp written out, so that the calls inside its stock form stay cold.
static inline kwi_announced kwi_announce(const kwi_ptr_cell *root)
{
    kw_thread *thread = kwi_thread_self;
#if KWI_RCU_HANDTUNED
    // Relaxed: a thread reads its own word.
    uint32_t depth = kwi_u32_load_relaxed(&thread->depth);
    struct urcu_bp_reader *reader = URCU_TLS(urcu_bp_reader);
    if (KW_UNLIKELY(depth >= thread->capacity) || KW_UNLIKELY(reader == NULL)) {
        return kwi_announce_slowly(root);
    }
    unsigned long before = reader->ctr;
    unsigned long inside = KW_UNLIKELY(before & URCU_BP_GP_CTR_NEST_MASK)
                               ? before + URCU_BP_GP_COUNT
                               : CMM_LOAD_SHARED(urcu_bp_gp.ctr);
    KWI_STEP(ENTER, &reader->ctr);
    _CMM_STORE_SHARED(reader->ctr, inside);
    cmm_barrier(); // enough: capacity is 0 where the kernel has no membarrier
    const kwi_block *block =
        kwi_chain_find(root, kwi_u64_load_relaxed(&thread->pinned)); // relaxed: its own word
#ifdef KWI_TESTING
    if (KWI_FAULT(ANNOUNCE_AFTER_LEAVING)) {
        KWI_STEP(LEAVE, &reader->ctr);
        _CMM_STORE_SHARED(reader->ctr, inside - URCU_BP_GP_COUNT);
        KWI_YIELD_OFTEN();
        kwi_announce_store(thread, depth, &thread->inside[depth], block);
        return (kwi_announced){block, thread};
    }
#endif
    kwi_announce_store(thread, depth, &thread->inside[depth], block);
    KWI_TSAN_LEAVE();
    KWI_STEP(LEAVE, &reader->ctr);
    cmm_barrier();
    _CMM_STORE_SHARED(reader->ctr, inside - URCU_BP_GP_COUNT);
    return (kwi_announced){block, thread};
#else
    (void)thread;
    return kwi_announce_slowly(root);
#endif
}

#endif // KWI_RCU_ANNOUNCE_FAST_H
