// Announcing: the cold path, for threads and depths that the fast path cannot serve.
//
// Layer:   rcu
// Threads: the calling thread.
// SPDX-License-Identifier: MIT

#include "rcu/announce.h"

#include "rcu/section.h"

kwi_version_line kwi_version;

kwi_announced kwi_announce_slowly(const kwi_ptr_cell *root)
{
    kwi_thread_block *block = kwi_thread_attach();
    if (block == NULL) {
        return (kwi_announced){NULL, 0};
    }
    kw_thread *thread = &block->hot;
    uint32_t depth = kwi_u32_load_relaxed(&thread->depth); // relaxed: its own word
    kwi_ptr_cell *slot = kwi_thread_inside(block, depth, true);
    if (slot == NULL) {
        return (kwi_announced){NULL, 0};
    }
    KWI_SEEN_WHEN(depth >= KWI_INSIDE_COUNT, DEEP_CALL);
    kwi_section section = kwi_section_enter();
    const kwi_block *found =
        kwi_chain_find(root, kwi_u64_load_relaxed(&thread->pinned)); // relaxed: its own word
    if (KWI_FAULT(ANNOUNCE_AFTER_LEAVING)) {
        kwi_section_leave(section);
        KWI_YIELD_OFTEN();
        section = kwi_section_enter();
    }
    kwi_announce_store(thread, depth, slot, found);
    kwi_section_leave(section);
    return (kwi_announced){found, depth};
}
