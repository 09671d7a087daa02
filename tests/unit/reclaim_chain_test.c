// Walking a chain, and asking who holds a block: blocks made by hand, as readers and drains see
// them.
// SPDX-License-Identifier: MIT

#include "rcu/announce.h"
#include "rcu/holders.h"
#include "rcu/version.h"
#include "support/chain.h"

TestSuite(reclaim_chain, .init = kwt_chain_begin, .fini = kwt_chain_end);

static void set_newest(uint64_t version)
{
    kwi_u64_store_release(&kwi_version.newest, version);
}

// Blocks of the versions 10, 20 and 30.
static void make_three(kwt_chain *chain, kwi_block **blocks)
{
    kwt_chain_init(chain);
    for (unsigned i = 0; i < 3; i++) {
        blocks[i] = kwt_publish(chain, 10 * (i + 1));
    }
    set_newest(30);
}

Test(reclaim_chain, reader_without_a_pin_sees_the_newest)
{
    kwt_chain chain;
    kwi_block *blocks[3];
    make_three(&chain, blocks);
    cr_expect_eq(kwi_chain_find(&chain.root, KWI_NOT_PINNED), blocks[2]);
    set_newest(35); // commits of other operators
    cr_expect_eq(kwi_chain_find(&chain.root, KWI_NOT_PINNED), blocks[2]);
}

Test(reclaim_chain, pin_sees_the_block_of_its_version)
{
    kwt_chain chain;
    kwi_block *blocks[3];
    make_three(&chain, blocks);
    cr_expect_eq(kwi_chain_find(&chain.root, 30), blocks[2]);
    cr_expect_eq(kwi_chain_find(&chain.root, 29), blocks[1]);
    cr_expect_eq(kwi_chain_find(&chain.root, 20), blocks[1]);
    cr_expect_eq(kwi_chain_find(&chain.root, 19), blocks[0]);
    cr_expect_eq(kwi_chain_find(&chain.root, 10), blocks[0]);
    cr_expect_eq(kwi_chain_find(&chain.root, 9), &chain.end, "older than all of them");
    cr_expect_eq(kwi_chain_find(&chain.root, 0), &chain.end);
}

Test(reclaim_chain, block_of_a_version_that_is_not_published_is_not_seen)
{
    kwt_chain chain;
    kwi_block *blocks[3];
    make_three(&chain, blocks);
    set_newest(29); // the commit of the third has stored its tables and not yet its version
    cr_expect_eq(kwi_chain_find(&chain.root, KWI_NOT_PINNED), blocks[1]);
    kwi_fault_set(KWI_FAULT_LIMIT_WITHOUT_VERSION);
    cr_expect_eq(kwi_chain_find(&chain.root, KWI_NOT_PINNED), blocks[2], "this test sees it");
}

typedef struct holders {
    unsigned call_count;
    unsigned snapshot_count;
    bool is_self;
    uint64_t age_ns; // of the last one
} holders;

static void count_hold(const kwi_hold *hold, void *context)
{
    holders *all = context;
    all->call_count += hold->kind == KWI_HOLD_CALL ? 1 : 0;
    all->snapshot_count += hold->kind == KWI_HOLD_SNAPSHOT ? 1 : 0;
    all->is_self = all->is_self || hold->is_self;
    all->age_ns = hold->age_ns;
}

static holders holders_of(const kwi_block *block) KWI_UNCHECKED
{
    holders all = {0};
    kwi_holds_visit(block, count_hold, &all);
    return all;
}

Test(reclaim_chain, holders_are_calls_and_pins_of_the_interval)
{
    kwt_chain chain;
    kwi_block *blocks[3];
    make_three(&chain, blocks);
    holders all = holders_of(blocks[0]);
    cr_expect_eq(all.call_count, 0);
    cr_expect_eq(all.snapshot_count, 0);
    cr_expect_not(all.is_self);
    kwt_pin(3, 10);
    kwt_pin(4, 19);
    kwt_pin(5, 20); // of the second block
    kwt_announce(6, 0, blocks[0]);
    kwt_announce(6, 1, blocks[1]);
    kwt_announce(6, 2, blocks[0]);
    all = holders_of(blocks[0]);
    cr_expect_eq(all.call_count, 2);
    cr_expect_eq(all.snapshot_count, 2);
    cr_expect_not(all.is_self, "other threads' blocks");
    kwt_depth(6, 2);
    cr_expect_eq(holders_of(blocks[0]).call_count, 1);
}

// The thread of these tests has the first block of its chunk.
static unsigned own_number(void)
{
    kwi_thread_cursor cursor = {0};
    unsigned number = 0;
    while (kwi_thread_next(&cursor) != kwi_thread_current()) {
        number++;
    }
    return number;
}

Test(reclaim_chain, own_call_or_pin_is_told_from_others)
{
    kwt_chain chain;
    kwi_block *blocks[3];
    make_three(&chain, blocks);
    unsigned self = own_number();
    cr_expect_not(kwi_thread_is_inside());
    kwt_pin(self, 15);
    cr_expect(holders_of(blocks[0]).is_self);
    cr_expect_not(holders_of(blocks[1]).is_self);
    cr_expect(kwi_thread_is_inside());
    kwt_pin(self, KWI_NOT_PINNED);
    kwt_announce(self, 0, blocks[1]);
    cr_expect(holders_of(blocks[1]).is_self);
    cr_expect_not(holders_of(blocks[0]).is_self);
    cr_expect(kwi_thread_is_inside());
    kwt_depth(self, 0);
    cr_expect_not(kwi_thread_is_inside());
}

Test(reclaim_chain, unlinked_block_is_held_by_calls_only)
{
    kwt_chain chain;
    kwi_block *blocks[3];
    make_three(&chain, blocks);
    kwt_announce(2, 0, blocks[0]);
    (void)kwt_pass(kwt_ticket());
    cr_assert_eq(blocks[0]->state, KWI_BLOCK_UNLINKED);
    kwt_pin(3, 15); // a pin that came too late to lead there
    holders all = holders_of(blocks[0]);
    cr_expect_eq(all.call_count, 1);
    cr_expect_eq(all.snapshot_count, 0);
    cr_expect_neq(all.age_ns, UINT64_MAX, "the pass has kept it for the call");
    kwt_announce(4, 0, blocks[1]);
    cr_expect_eq(holders_of(blocks[1]).age_ns, UINT64_MAX, "new calls may come");
    kwt_depth(4, 0);
    kwt_depth(2, 0);
}
