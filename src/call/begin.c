// Begin: the one function of the fast path that is not inline.
//
// Layer:   call
// Threads: any; wait-free once the thread is attached.
// SPDX-License-Identifier: MIT

#include "call/begin.h"

#include <keyway/call.h>
#include <keyway/inline/call.h>

#include "call/top.h"
#include "rcu/thread.h"

const unsigned char kwi_layout_2 = KW_LAYOUT;

kw_announced kw_call_announce(const kw_operator *op)
{
    kwi_announced announced = kwi_announce(&op->table);
    return (kw_announced){(const kw_table *)(const void *)announced.block, announced.depth};
}

const kw_table *kw_redispatch_table_deep(const kw_operator *op)
{
    // Relaxed: a thread reads its own words.
    if (kwi_u32_load_relaxed(&kwi_thread_self->depth) == 0) {
        return NULL;
    }
    const kw_table *table = kwi_top_table();
    return table->block.owner == op ? table : NULL;
}

const kw_operator *kw_call_operator(void)
{
    // Relaxed: a thread reads its own words.
    return kwi_u32_load_relaxed(&kwi_thread_self->depth) > 0 ? kwi_top_table()->block.owner : NULL;
}

kw_status kw_thread_attach(void)
{
    return kwi_thread_attach() != NULL ? KW_OK : KW_NO_MEMORY;
}

void *kw_call_context(void)
{
    const kwi_thread_block *block = kwi_thread_current();
    return block != NULL ? block->context : NULL;
}

kw_status kw_call_context_set(void *context, void **out_previous)
{
    kwi_thread_block *block = kwi_thread_attach();
    if (block == NULL) {
        return KW_NO_MEMORY;
    }
    if (out_previous != NULL) {
        *out_previous = block->context;
    }
    block->context = context;
    return KW_OK;
}
