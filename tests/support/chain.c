// Chains of blocks made by hand.
// SPDX-License-Identifier: MIT

#include "support/chain.h"

#include <stdlib.h>

#define MOST_BLOCKS 1024
#define FREED_STATE 77

kwi_reclaimer kwt_reclaimer;

static kwi_block *made[MOST_BLOCKS];
static size_t made_count;

static kwi_thread_block *thread_number(unsigned number)
{
    kwi_thread_cursor cursor = {0};
    kwi_thread_block *block = kwi_thread_next(&cursor);
    for (; block != NULL && number > 0; number--) {
        block = kwi_thread_next(&cursor);
    }
    cr_assert_not_null(block, "a chunk of blocks is mapped");
    return block;
}

void kwt_chain_begin(void)
{
    cr_assert_eq(kwi_threads_init(), KW_OK);
    cr_assert_not_null(kwi_thread_attach());
}

void kwt_chain_end(void)
{
    for (size_t i = 0; i < made_count; i++) {
        free(made[i]);
    }
    kwi_words_fini(&kwt_reclaimer.pins);
    kwi_words_fini(&kwt_reclaimer.announced);
    if (kwi_memory_bytes() != 0) {
        abort(); // an assertion after the test's body would only be printed
    }
}

void kwt_chain_init(kwt_chain *chain)
{
    *chain = (kwt_chain){.end = {.state = KWI_BLOCK_PERMANENT, .hi = UINT64_MAX}};
    kwi_ptr_store_relaxed(&chain->root, &chain->end);
}

// The tests have one thread: the writer lock would guard nothing.
kwi_block *kwt_publish(kwt_chain *chain, uint64_t version) KWI_UNCHECKED
{
    kwi_block *old = kwi_ptr_load_relaxed(&chain->root);
    kwi_block *block = calloc(1, sizeof *block);
    cr_assert_not_null(block);
    cr_assert_lt(made_count, MOST_BLOCKS);
    made[made_count++] = block;
    block->version = version;
    block->hi = UINT64_MAX;
    block->bytes = sizeof *block;
    kwi_ptr_store_relaxed(&block->older, old);
    kwi_ptr_store_release(&chain->root, block);
    if (old->state == KWI_BLOCK_NEWEST) {
        kwi_retire(&kwt_reclaimer, old, block, version);
    }
    return block;
}

uint64_t kwt_ticket(void) KWI_UNCHECKED
{
    return kwi_reclaim_ticket(&kwt_reclaimer);
}

uint64_t kwt_pass(uint64_t ticket) KWI_UNCHECKED
{
    uint64_t count = 0;
    for (kwi_block *block = kwi_reclaim_pass(&kwt_reclaimer, ticket); block != NULL;
         block = block->next) {
        cr_assert_neq(block->state, FREED_STATE, "a block is freed once");
        cr_assert_eq(block->state, KWI_BLOCK_UNLINKED);
        block->state = FREED_STATE;
        count++;
    }
    return count;
}

bool kwt_is_freed(const kwi_block *block)
{
    return block->state == FREED_STATE;
}

bool kwt_wants_grace(void) KWI_UNCHECKED
{
    return kwi_reclaim_wants_grace(&kwt_reclaimer);
}

uint64_t kwt_retired_count(void)
{
    return kwt_reclaimer.retired_count;
}

void kwt_visit(void (*visit)(const kwi_block *block, void *context), void *context) KWI_UNCHECKED
{
    kwi_reclaim_visit(&kwt_reclaimer, visit, context);
}

void kwt_pin(unsigned number, uint64_t version)
{
    kwi_u64_store_release(&thread_number(number)->hot.pinned, version);
}

void kwt_announce(unsigned number, uint32_t index, const kwi_block *block)
{
    kwi_thread_block *thread = thread_number(number);
    kwi_ptr_cell *slot = kwi_thread_inside(thread, index, true);
    cr_assert_not_null(slot);
    kwi_ptr_store_release(slot, block);
    kwi_u32_store_release(&thread->hot.depth, index + 1);
}

void kwt_depth(unsigned number, uint32_t depth)
{
    kwi_u32_store_release(&thread_number(number)->hot.depth, depth);
}
