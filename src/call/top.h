// The top: the table of the innermost call that the thread is inside.
//
// Layer:   call
// Threads: owner thread only, inside a call.
// SPDX-License-Identifier: MIT

#ifndef KWI_CALL_TOP_H
#define KWI_CALL_TOP_H

#include <keyway/inline/table.h>

#include "rcu/thread.h"

// Inside a call, never NULL: the thread wrote the slot itself.
static inline const kw_table *kwi_top_table(void)
{
    kwi_thread_block *block = kwi_thread_current();
    uint32_t depth = kwi_u32_load_relaxed(&block->hot.depth); // relaxed: its own word
    return kwi_ptr_load_relaxed(kwi_thread_inside(block, depth - 1, false)); // relaxed: its own
}

#endif // KWI_CALL_TOP_H
