// Seeded faults: each rule of reclamation, left out on purpose, breaks the promise that rests on
// it. So the tests of the promises would see it. SPDX-License-Identifier: MIT

#include <keyway/snapshot.h>

#include "base/yield.h"
#include "support/chain.h"
#include "support/registry.h"

TestSuite(reclaim_fault, .init = kwt_chain_begin, .fini = kwt_chain_end);

// Whether a promise holds, with and without a fault. Each runs on chains of its own.
static void expect_fault(bool (*holds)(void), kwi_fault fault)
{
    cr_expect(holds(), "without the fault");
    kwi_fault_set(fault);
    cr_expect_not(holds(), "with the fault");
    kwi_fault_set(KWI_FAULT_NONE);
}

// Ends what a promise began, and frees the rest.
static void settle(void)
{
    for (unsigned i = 0; i < 3; i++) {
        kwt_pin(i, KWI_NOT_PINNED);
        kwt_depth(i, 0);
    }
    for (int i = 0; i < 3; i++) {
        (void)kwt_pass(kwt_ticket());
    }
}

static bool pinned_block_stays(void)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *block = kwt_publish(&chain, 1);
    (void)kwt_publish(&chain, 2);
    kwt_pin(0, 1);
    (void)kwt_pass(kwt_ticket());
    bool stays = !kwt_is_freed(block);
    settle();
    return stays;
}

Test(reclaim_fault, pins_ignored)
{
    expect_fault(pinned_block_stays, KWI_FAULT_IGNORE_PINS);
}

static bool announced_blocks_stay(void)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *outer = kwt_publish(&chain, 1);
    kwi_block *inner = kwt_publish(&chain, 2);
    (void)kwt_publish(&chain, 3);
    kwt_announce(0, 0, outer);
    kwt_announce(0, 1, inner);
    (void)kwt_pass(kwt_ticket());
    bool stay = !kwt_is_freed(outer) && !kwt_is_freed(inner);
    settle();
    return stay;
}

Test(reclaim_fault, announcements_ignored)
{
    expect_fault(announced_blocks_stay, KWI_FAULT_IGNORE_ANNOUNCEMENTS);
}

Test(reclaim_fault, only_the_top_announcement_read)
{
    expect_fault(announced_blocks_stay, KWI_FAULT_TOP_ANNOUNCEMENT_ONLY);
}

static bool unripe_block_stays(void)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    kwi_block *block = kwt_publish(&chain, 1);
    (void)kwt_publish(&chain, 2);
    (void)kwt_pass(0);
    bool stays = !kwt_is_freed(block) && block->state == KWI_BLOCK_LINKED;
    settle();
    return stays;
}

Test(reclaim_fault, unripe_block_reclaimed)
{
    expect_fault(unripe_block_stays, KWI_FAULT_UNRIPE_RECLAIMED);
}

static bool block_on_the_way_waits_again(void)
{
    kwt_chain chain;
    kwt_chain_init(&chain);
    (void)kwt_publish(&chain, 10);
    kwi_block *middle = kwt_publish(&chain, 20);
    (void)kwt_publish(&chain, 30);
    kwt_pin(0, 15);
    uint64_t ticket = kwt_ticket();
    (void)kwt_pass(ticket);
    (void)kwt_pass(ticket);
    bool waits = !kwt_is_freed(middle);
    settle();
    return waits;
}

Test(reclaim_fault, block_on_the_way_freed_at_once)
{
    expect_fault(block_on_the_way_waits_again, KWI_FAULT_MIDDLE_FREED_AT_ONCE);
}

Test(reclaim_fault, block_on_the_way_without_a_new_ticket)
{
    expect_fault(block_on_the_way_waits_again, KWI_FAULT_NO_NEW_TICKET);
}

// The same with operators.
TestSuite(registry_fault, .init = kwt_begin, .fini = kwt_end);

static bool nested_snapshot_keeps_the_version(void)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_snapshot outer;
    kw_snapshot inner;
    KWT_OK(kw_snapshot_open(&outer));
    KWT_OK(kw_transaction_commit(kwt_transaction(dispatcher), NULL, NULL, NULL));
    KWT_OK(kw_snapshot_open(&inner));
    bool keeps = inner.version == outer.version;
    KWT_OK(kw_snapshot_close(&inner));
    KWT_OK(kw_snapshot_close(&outer));
    return keeps;
}

Test(registry_fault, nested_snapshot_pins_anew)
{
    expect_fault(nested_snapshot_keeps_the_version, KWI_FAULT_NESTED_SNAPSHOT_REPINS);
}
