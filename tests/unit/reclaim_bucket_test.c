// Buckets: blocks that an open pin keeps cost later passes nothing.
// SPDX-License-Identifier: MIT

#include "support/chain.h"

TestSuite(reclaim_bucket, .init = kwt_chain_begin, .fini = kwt_chain_end);

#define CHAIN_COUNT 100

// Many chains, each with a block of version 1 replaced in version `hi`.
static void retire_many(kwt_chain *chains, unsigned count, uint64_t hi)
{
    for (unsigned i = 0; i < count; i++) {
        kwt_chain_init(&chains[i]);
        (void)kwt_publish(&chains[i], 1);
        (void)kwt_publish(&chains[i], hi);
    }
}

static unsigned listed_count(void)
{
    unsigned count = 0;
    for (const kwi_block *block = kwt_reclaimer.retired; block != NULL; block = block->next) {
        count++;
    }
    return count;
}

Test(reclaim_bucket, pinned_blocks_leave_the_list_that_passes_walk)
{
    static kwt_chain chains[CHAIN_COUNT];
    retire_many(chains, CHAIN_COUNT, 2);
    kwt_pin(3, 1);
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    cr_expect_eq(listed_count(), 0);
    cr_expect_eq(kwt_retired_count(), CHAIN_COUNT);
    cr_expect_not(kwt_wants_grace());
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    kwt_pin(3, KWI_NOT_PINNED);
    cr_expect_eq(kwt_pass(kwt_ticket()), CHAIN_COUNT);
    cr_expect_eq(kwt_retired_count(), 0);
}

Test(reclaim_bucket, pass_after_the_pin_opens_it_at_once)
{
    static kwt_chain chains[CHAIN_COUNT];
    retire_many(chains, CHAIN_COUNT, 2);
    kwt_pin(3, 1);
    (void)kwt_pass(kwt_ticket());
    kwt_pin(3, KWI_NOT_PINNED);
    cr_expect_eq(kwt_pass(0), CHAIN_COUNT, "they are ripe already");
}

Test(reclaim_bucket, same_pin_of_another_thread_keeps_it_closed)
{
    static kwt_chain chains[CHAIN_COUNT];
    retire_many(chains, CHAIN_COUNT, 2);
    kwt_pin(3, 1);
    kwt_pin(9, 1);
    (void)kwt_pass(kwt_ticket());
    kwt_pin(3, KWI_NOT_PINNED);
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    cr_expect_eq(listed_count(), 0);
    kwt_pin(9, KWI_NOT_PINNED);
    cr_expect_eq(kwt_pass(kwt_ticket()), CHAIN_COUNT);
}

Test(reclaim_bucket, blocks_move_to_the_next_pin_of_their_interval)
{
    static kwt_chain chains[CHAIN_COUNT];
    retire_many(chains, CHAIN_COUNT, 10);
    kwt_pin(0, 2);
    kwt_pin(1, 7);
    (void)kwt_pass(kwt_ticket());
    kwt_pin(0, KWI_NOT_PINNED);
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    cr_expect_eq(listed_count(), 0);
    cr_expect_eq(kwt_retired_count(), CHAIN_COUNT);
    kwt_pin(1, KWI_NOT_PINNED);
    cr_expect_eq(kwt_pass(kwt_ticket()), CHAIN_COUNT);
}

Test(reclaim_bucket, announced_block_in_a_bucket_outlives_its_pin)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *block = kwt_publish(&chain, 1);
    (void)kwt_publish(&chain, 2);
    kwt_pin(0, 1);
    kwt_announce(0, 0, block);
    (void)kwt_pass(kwt_ticket());
    kwt_pin(0, KWI_NOT_PINNED);
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    kwt_depth(0, 0);
    cr_expect_eq(kwt_pass(kwt_ticket()), 1);
}

// More distinct pins than buckets: what has no bucket stays in the list.

#define PIN_COUNT 30

Test(reclaim_bucket, more_pins_than_buckets_keep_every_block)
{
    static kwt_chain chains[PIN_COUNT];
    cr_assert_gt(PIN_COUNT, KWI_BUCKET_COUNT);
    for (unsigned i = 0; i < PIN_COUNT; i++) {
        kwt_chain_init(&chains[i]);
        (void)kwt_publish(&chains[i], 100 + i);
        (void)kwt_publish(&chains[i], 101 + i);
        kwt_pin(i, 100 + i);
    }
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(kwt_pass(kwt_ticket()), 0);
        cr_expect_eq(kwt_retired_count(), PIN_COUNT);
        cr_expect_eq(listed_count(), PIN_COUNT - KWI_BUCKET_COUNT);
    }
    // The pins end one by one, in an order that mixes those with and without a bucket.
    for (unsigned i = 0; i < PIN_COUNT; i++) {
        unsigned pin = (i * 7) % PIN_COUNT;
        kwt_pin(pin, KWI_NOT_PINNED);
        uint64_t freed = kwt_pass(kwt_ticket());
        freed += kwt_pass(kwt_ticket()); // some were unlinked under older pins
        cr_assert_eq(freed, 1);
        cr_assert_eq(kwt_retired_count(), PIN_COUNT - 1 - i);
    }
}

Test(reclaim_bucket, one_long_chain_keeps_exactly_the_pinned_blocks)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    for (unsigned i = 0; i < 20; i++) {
        kwt_pin(i, 3 + 4 * i);
    }
    for (uint64_t version = 1; version <= 100; version++) {
        (void)kwt_publish(&chain, version);
        (void)kwt_pass(kwt_ticket());
    }
    (void)kwt_pass(kwt_ticket());
    (void)kwt_pass(kwt_ticket());
    cr_expect_eq(kwt_retired_count(), 20);
    unsigned pin = 20;
    const kwi_block *block = kwi_ptr_load_relaxed(&chain.root);
    for (block = kwi_ptr_load_relaxed(&block->older); block != &chain.end;
         block = kwi_ptr_load_relaxed(&block->older)) {
        pin--;
        cr_assert_eq(block->version, 3 + 4 * pin);
    }
    cr_expect_eq(pin, 0);
}
