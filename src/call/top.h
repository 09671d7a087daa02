// The top: the table of the innermost call that the thread is inside.
//
// Layer:   call
// Threads: owner thread only, inside a call.
// SPDX-License-Identifier: MIT

#ifndef KWI_CALL_TOP_H
#define KWI_CALL_TOP_H

#include <keyway/inline/table.h>

#include "rcu/thread.h"

// The calling thread's block: whoever is inside a call has one.
static inline kwi_thread_block *kwi_top_block(void)
{
    return (kwi_thread_block *)(void *)kwi_thread_self;
}

// Inside a call, never NULL: the thread wrote the slot itself.
static inline const kw_table *kwi_top_table(void)
{
    kwi_thread_block *block = kwi_top_block();
    uint32_t top = kwi_u32_load_relaxed(&block->hot.depth) - 1; // relaxed: its own word
    const kwi_ptr_cell *slot = KW_LIKELY(top < KWI_INSIDE_COUNT)
                                   ? &block->hot.inside[top]
                                   : kwi_thread_inside(block, top, false);
    return kwi_ptr_load_relaxed(slot); // relaxed: its own word
}

#endif // KWI_CALL_TOP_H
