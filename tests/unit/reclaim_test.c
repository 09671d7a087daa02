// Reclamation on its own: the rules C1 to C6 with blocks made by hand. No operator, no thread.
// SPDX-License-Identifier: MIT

#include "support/chain.h"

TestSuite(reclaim, .init = kwt_chain_begin, .fini = kwt_chain_end);

Test(reclaim, block_that_nobody_uses_is_free_after_its_grace_period)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *first = kwt_publish(&chain, 1);
    (void)kwt_publish(&chain, 2);
    cr_expect_eq(kwt_retired_count(), 1);
    uint64_t ticket = kwt_ticket();
    cr_expect_eq(kwt_pass(ticket), 1);
    cr_expect(kwt_is_freed(first));
    cr_expect_eq(kwt_retired_count(), 0);
}

Test(reclaim, newest_and_permanent_blocks_stay)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *newest = kwt_publish(&chain, 1);
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    cr_expect_not(kwt_is_freed(newest));
    cr_expect_eq(newest->state, KWI_BLOCK_NEWEST);
    cr_expect_eq(chain.end.state, KWI_BLOCK_PERMANENT);
}

// C1: nothing happens to a block before its own grace period is over.

Test(reclaim, unripe_block_is_neither_unlinked_nor_freed)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *first = kwt_publish(&chain, 1);
    kwi_block *second = kwt_publish(&chain, 2);
    cr_expect_eq(kwt_pass(0), 0, "no grace period is over");
    cr_expect_eq(first->state, KWI_BLOCK_LINKED);
    cr_expect_eq(kwi_ptr_load_relaxed(&second->older), first);
    cr_expect(kwt_wants_grace());
    (void)kwt_pass(kwt_ticket());
    cr_expect(kwt_is_freed(first));
    cr_expect_not(kwt_wants_grace());
}

Test(reclaim, grace_period_of_another_commit_says_nothing)
{
    kwt_chain one;
    kwt_chain two;
    kwt_chain_init(&one);
    kwt_chain_init(&two);
    kwi_block *early = kwt_publish(&one, 1);
    (void)kwt_publish(&one, 2);
    uint64_t first_ticket = kwt_ticket();
    kwi_block *late = kwt_publish(&two, 1);
    (void)kwt_publish(&two, 3);
    uint64_t second_ticket = kwt_ticket();
    cr_expect_eq(kwt_pass(first_ticket), 1);
    cr_expect(kwt_is_freed(early));
    cr_expect_not(kwt_is_freed(late));
    cr_expect_eq(late->state, KWI_BLOCK_LINKED);
    cr_expect_eq(kwt_pass(second_ticket), 1);
}

Test(reclaim, later_grace_period_covers_earlier_tickets)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    for (uint64_t version = 1; version <= 5; version++) {
        (void)kwt_publish(&chain, version);
        (void)kwt_ticket();
    }
    cr_expect_eq(kwt_pass(kwt_ticket()), 4);
    cr_expect_eq(kwt_pass(1), 0, "an older ticket takes nothing back");
}

// C3: a pin inside the interval keeps the block where it is.

static bool is_kept_by_pin(uint64_t pin)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *block = kwt_publish(&chain, 10);
    (void)kwt_publish(&chain, 20);
    kwt_pin(0, pin);
    (void)kwt_pass(kwt_ticket());
    bool kept = !kwt_is_freed(block) && block->state == KWI_BLOCK_LINKED;
    kwt_pin(0, KWI_NOT_PINNED);
    (void)kwt_pass(kwt_ticket());
    (void)kwt_pass(kwt_ticket());
    cr_assert(kwt_is_freed(block));
    return kept;
}

Test(reclaim, pin_inside_the_interval_keeps_a_block_linked)
{
    cr_expect(is_kept_by_pin(10), "its first version");
    cr_expect(is_kept_by_pin(19), "its last version");
    cr_expect_not(is_kept_by_pin(9));
    cr_expect_not(is_kept_by_pin(20), "the version that replaced it");
    cr_expect_not(is_kept_by_pin(0));
}

Test(reclaim, any_of_several_pins_keeps_it)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *block = kwt_publish(&chain, 10);
    (void)kwt_publish(&chain, 20);
    static const uint64_t pins[] = {3, 30, 15, 20, 9};
    for (unsigned i = 0; i < 5; i++) {
        kwt_pin(i, pins[i]);
    }
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    cr_expect_eq(block->state, KWI_BLOCK_LINKED);
    kwt_pin(2, KWI_NOT_PINNED);
    cr_expect_eq(kwt_pass(kwt_ticket()), 0, "unlinked under the older pins");
    cr_expect_eq(block->state, KWI_BLOCK_UNLINKED);
    cr_expect_eq(kwt_pass(kwt_ticket()), 1);
}

// C4: unlinked under an older pin, a block waits for one more grace period.

Test(reclaim, block_that_older_readers_may_stand_on_gets_a_new_ticket)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *first = kwt_publish(&chain, 10);
    kwi_block *second = kwt_publish(&chain, 20);
    kwi_block *third = kwt_publish(&chain, 30);
    kwt_pin(0, 15); // readers of it walk from the third through the second to the first
    uint64_t ticket = kwt_ticket();
    cr_expect_eq(kwt_pass(ticket), 0);
    cr_expect_eq(first->state, KWI_BLOCK_LINKED);
    cr_expect_eq(second->state, KWI_BLOCK_UNLINKED);
    cr_expect_eq(kwi_ptr_load_relaxed(&third->older), first, "new readers skip it");
    cr_expect_eq(kwi_ptr_load_relaxed(&second->older), first, "those who stand on it go on");
    cr_expect_gt(second->ticket, ticket);
    cr_expect(kwt_wants_grace());
    cr_expect_eq(kwt_pass(ticket), 0, "the same grace period again is none");
    cr_expect_not(kwt_is_freed(second));
    cr_expect_eq(kwt_pass(kwt_ticket()), 1, "its pin is still open");
    cr_expect(kwt_is_freed(second));
    kwt_pin(0, KWI_NOT_PINNED);
    cr_expect_eq(kwt_pass(kwt_ticket()), 1);
    cr_expect_eq(kwi_ptr_load_relaxed(&third->older), &chain.end);
}

Test(reclaim, pin_older_than_every_version_walks_down_to_the_end)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwt_pin(0, 5);
    kwi_block *only = kwt_publish(&chain, 10);
    kwi_block *newest = kwt_publish(&chain, 20);
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    cr_expect_eq(only->state, KWI_BLOCK_UNLINKED);
    cr_expect_eq(kwi_ptr_load_relaxed(&newest->older), &chain.end);
    cr_expect_eq(kwt_pass(kwt_ticket()), 1);
}

// The links are right whatever the order in which blocks leave the chain.

static void expect_chain(const kwt_chain *chain, const uint64_t *versions)
{
    const kwi_block *block = kwi_ptr_load_relaxed(&chain->root);
    for (; *versions != 0; versions++) {
        cr_assert_eq(block->version, *versions);
        const kwi_block *older = kwi_ptr_load_relaxed(&block->older);
        cr_assert(older == &chain->end || older->newer == block, "both ways");
        block = older;
    }
    cr_assert_eq(block, &chain->end);
}

Test(reclaim, blocks_leave_the_chain_in_any_order)
{
    static const unsigned orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (unsigned order = 0; order < 6; order++) {
        kwt_chain chain;
        kwt_chain_init(&chain);
        for (uint64_t version = 10; version <= 40; version += 10) {
            (void)kwt_publish(&chain, version);
        }
        for (unsigned i = 0; i < 3; i++) {
            kwt_pin(i, 10 * (i + 1));
        }
        cr_assert_eq(kwt_pass(kwt_ticket()), 0);
        expect_chain(&chain, (const uint64_t[]){40, 30, 20, 10, 0});
        bool gone[3] = {false};
        for (unsigned i = 0; i < 3; i++) {
            unsigned pin = orders[order][i];
            kwt_pin(pin, KWI_NOT_PINNED);
            gone[pin] = true;
            (void)kwt_pass(kwt_ticket());
            uint64_t left[5] = {40};
            unsigned count = 1;
            for (unsigned j = 3; j-- > 0;) {
                if (!gone[j]) {
                    left[count++] = 10 * (j + 1);
                }
            }
            expect_chain(&chain, left);
            (void)kwt_pass(kwt_ticket());
        }
        cr_assert_eq(kwt_retired_count(), 0);
    }
}

// C5: an announced block is not freed, at whatever depth.

Test(reclaim, announced_block_is_unlinked_but_not_freed)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *block = kwt_publish(&chain, 1);
    (void)kwt_publish(&chain, 2);
    kwt_announce(0, 0, block);
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    cr_expect_eq(block->state, KWI_BLOCK_UNLINKED);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(kwt_pass(kwt_ticket()), 0, "for as long as it takes");
    }
    cr_expect_not(kwt_wants_grace(), "a grace period would not help");
    kwt_depth(0, 0);
    cr_expect_eq(kwt_pass(kwt_ticket()), 1);
}

Test(reclaim, every_announcement_counts_not_only_the_top)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *blocks[4];
    for (unsigned i = 0; i < 4; i++) {
        blocks[i] = kwt_publish(&chain, i + 1);
        kwt_announce(5, i, blocks[i]);
    }
    (void)kwt_publish(&chain, 9);
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    for (unsigned depth = 4; depth-- > 0;) {
        kwt_depth(5, depth);
        cr_expect_eq(kwt_pass(kwt_ticket()), 1);
        cr_expect(kwt_is_freed(blocks[depth]));
    }
}

Test(reclaim, slot_above_the_depth_is_stale)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *block = kwt_publish(&chain, 1);
    (void)kwt_publish(&chain, 2);
    kwt_announce(0, 3, block);
    kwt_depth(0, 3);
    cr_expect_eq(kwt_pass(kwt_ticket()), 1);
}

Test(reclaim, two_announcements_of_a_block_both_count)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *block = kwt_publish(&chain, 1);
    (void)kwt_publish(&chain, 2);
    kwt_announce(0, 0, block);
    kwt_announce(7, 0, block);
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    kwt_depth(0, 0);
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    kwt_depth(7, 0);
    cr_expect_eq(kwt_pass(kwt_ticket()), 1);
}

Test(reclaim, announcement_and_pin_are_independent)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *block = kwt_publish(&chain, 1);
    (void)kwt_publish(&chain, 2);
    kwt_announce(0, 0, block);
    kwt_pin(0, 1);
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    kwt_pin(0, KWI_NOT_PINNED);
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    kwt_depth(0, 0);
    cr_expect_eq(kwt_pass(kwt_ticket()), 1);
}

// C6: announced pointers are compared, never followed.

Test(reclaim, announced_rubbish_is_not_followed)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *block = kwt_publish(&chain, 1);
    (void)kwt_publish(&chain, 2);
    kwt_announce(0, 0, (const kwi_block *)(uintptr_t)8);
    kwt_announce(0, 1, (const kwi_block *)UINTPTR_MAX);
    kwt_announce(0, 2, NULL);
    cr_expect_eq(kwt_pass(kwt_ticket()), 1);
    cr_expect(kwt_is_freed(block));
}

// Bookkeeping.

static void count_visit(const kwi_block *block, void *context)
{
    uint64_t *sum = context;
    sum[0]++;
    sum[1] += block->version;
}

Test(reclaim, figures_and_visits_cover_lists_and_buckets)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    for (uint64_t version = 1; version <= 4; version++) {
        (void)kwt_publish(&chain, version);
    }
    uint64_t bytes = sizeof(kwi_block);
    cr_expect_eq(kwt_reclaimer.retired_bytes, 3 * bytes);
    kwt_pin(0, 2);
    kwt_announce(0, 0, kwi_ptr_load_relaxed(&chain.root));
    (void)kwt_pass(kwt_ticket());
    (void)kwt_pass(kwt_ticket());
    uint64_t sum[2] = {0, 0};
    kwt_visit(count_visit, sum);
    cr_expect_eq(sum[0], 1);
    cr_expect_eq(sum[1], 2, "the pinned one");
    cr_expect_eq(kwt_reclaimer.retired_bytes, bytes);
    kwt_depth(0, 0);
}

Test(reclaim, pass_without_work_needs_no_memory)
{
    uint64_t before = kwi_memory_count();
    kwt_pin(0, 1);
    cr_expect_eq(kwt_pass(kwt_ticket()), 0);
    cr_expect_eq(kwi_memory_count(), before);
}

Test(reclaim, pass_without_memory_frees_nothing_and_the_next_one_does)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    (void)kwt_publish(&chain, 1);
    (void)kwt_publish(&chain, 2);
    kwt_pin(0, 7);
    kwt_announce(1, 0, &chain.end);
    uint64_t ticket = kwt_ticket();
    for (uint64_t nth = 1; nth <= 2; nth++) {
        kwi_memory_fail_at(nth, false);
        cr_expect_eq(kwt_pass(ticket), 0, "allocation %llu", (unsigned long long)nth);
        cr_expect_eq(kwt_retired_count(), 1);
        kwi_memory_fail_at(0, false);
    }
    cr_expect_eq(kwt_pass(ticket), 1);
    kwt_depth(1, 0);
}
