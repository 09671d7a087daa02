// Seeded faults: each rule of reclamation, left out on purpose, breaks the promise that rests on
// it. So the tests of the promises would see it. SPDX-License-Identifier: MIT

#include <keyway/inline/call.h>
#include <keyway/lease.h>
#include <keyway/snapshot.h>

#include "base/yield.h"
#include "registry/operator.h"
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

// Shared snapshots
// ---------------------------------------------------------------------------------

// An operator whose kernel answers 1 as of the version of `shared`, and another number by now.
typedef struct scene {
    kw_library *library;
    const kw_operator *op;
} scene;

static kw_snapshot own;
static kw_shared_snapshot *shared;

static scene make(void)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    scene made = {.library = kwt_library(dispatcher, "a")};
    (void)kwt_define(made.library, "t::f(Tensor x) -> int");
    (void)kwt_impl(made.library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    made.op = kwt_find(dispatcher, "t::f");
    return made;
}

static void commit_one(const scene *in)
{
    (void)kwt_impl(in->library, "t::f", KW_KEY_CPU, KWT_T_I(2));
}

// Whether a table is kept for the thread that is under the version, and ends the snapshot.
static bool is_kept(void)
{
    KWT_OK(kw_reclaim());
    bool kept = kwt_statistics().held_table_count == 1;
    KWT_OK(kw_snapshot_close(&own));
    KWT_OK(kw_reclaim());
    return kept;
}

static bool version_waits_for_who_enters_later(void)
{
    scene in = make();
    KWT_OK(kw_shared_snapshot_create(&shared, NULL));
    commit_one(&in);
    KWT_OK(kw_reclaim());
    bool kept = kwt_statistics().held_table_count == 1;
    KWT_OK(kw_shared_snapshot_enter(shared, &own));
    kw_shared_snapshot_release(shared);
    return is_kept() && kept;
}

Test(registry_fault, shared_snapshot_not_scanned)
{
    expect_fault(version_waits_for_who_enters_later, KWI_FAULT_SHARED_NOT_SCANNED);
}

Test(registry_fault, pin_copied_between_threads)
{
    expect_fault(version_waits_for_who_enters_later, KWI_FAULT_PIN_COPIED);
}

// What others do while the thread enters: they commit, and reclaim.
static const scene *changed;

static void commit_and_reclaim(void)
{
    commit_one(changed);
    KWT_OK(kw_reclaim());
}

static bool version_is_kept_while_a_thread_enters(void)
{
    scene in = make();
    changed = &in;
    KWT_OK(kw_shared_snapshot_create(&shared, NULL));
    kwi_yield_interrupt("version_by_fault", commit_and_reclaim);
    KWT_OK(kw_shared_snapshot_enter(shared, &own));
    kw_shared_snapshot_release(shared);
    return is_kept();
}

Test(registry_fault, shared_snapshot_released_before_the_pin_is_stored)
{
    expect_fault(version_is_kept_while_a_thread_enters, KWI_FAULT_SHARED_RELEASED_FIRST);
}

// What the thread under the snapshot does while another one's pass scans: it hands its version over
// to an object. The scan holds the lock of the list, so this comes after it.
static void hand_over(void)
{
    KWT_OK(kw_snapshot_share(&own, &shared, NULL));
    KWT_OK(kw_snapshot_close(&own));
}

static bool version_is_kept_while_it_is_handed_over(void)
{
    scene in = make();
    shared = NULL;
    KWT_OK(kw_snapshot_open(&own));
    commit_one(&in);
    kwi_yield_interrupt(KWI_FAULT(SHARED_SCANNED_APART) ? "scan_all" : "scan_reader_words",
                        hand_over);
    KWT_OK(kw_reclaim());
    cr_assert_not_null(shared, "the schedule point was reached");
    KWT_OK(kw_shared_snapshot_enter(shared, &own));
    kw_shared_snapshot_release(shared);
    return is_kept();
}

Test(registry_fault, list_and_words_scanned_apart)
{
    expect_fault(version_is_kept_while_it_is_handed_over, KWI_FAULT_SHARED_SCANNED_APART);
}

// Announcements -----------------------------------------------------------------------------------

static const kw_operator *called;
static kw_call ongoing;

// Ends the call as its thread would, without a look at the table, which a fault may have freed.
static bool call_keeps_its_table(void)
{
    bool kept = kwt_statistics().retired_count > 0;
    kwi_u32_store_relaxed(&ongoing.thread->depth, kw_call_depth(ongoing)); // relaxed: one thread
    KWT_OK(kw_reclaim());
    return kept;
}

// What a thread does while another one's pass scans: its protection passes from a pin to a call.
static void call_and_close(void)
{
    ongoing = kw_call_begin(called);
    KWT_OK(kw_snapshot_close(&own));
}

static bool table_is_kept_when_a_call_takes_over(void)
{
    scene in = make();
    called = in.op;
    KWT_OK(kw_snapshot_open(&own));
    commit_one(&in);
    kwi_yield_interrupt("scan_reader_words", call_and_close);
    KWT_OK(kw_reclaim());
    return call_keeps_its_table();
}

Test(registry_fault, announcements_read_before_pins)
{
    expect_fault(table_is_kept_when_a_call_takes_over, KWI_FAULT_ANNOUNCEMENTS_BEFORE_PINS);
}

// What a signal handler does between the two stores.
static void call_another(void)
{
    kw_call call = kw_call_begin(called);
    kw_call_end(call, kw_call_depth(call));
}

static bool announcement_survives_a_handler(void)
{
    scene in = make();
    called = make().op;
    kwi_yield_interrupt("kwi_announce_store", call_another);
    ongoing = kw_call_begin(in.op);
    commit_one(&in);
    KWT_OK(kw_reclaim());
    return call_keeps_its_table();
}

Test(registry_fault, slot_written_before_the_depth_rises)
{
    expect_fault(announcement_survives_a_handler, KWI_FAULT_SLOT_BEFORE_DEPTH);
}

// A thread whose calls take the plain form.
static bool table_is_kept_from_the_section_on(void)
{
    scene in = make();
    changed = &in;
    KWT_OK(kw_thread_attach());
    uint32_t capacity = kwi_thread_self->capacity;
    kwi_thread_self->capacity = 0;
    kwi_yield_interrupt("kwi_announce_slowly", commit_and_reclaim); // there with the fault only
    ongoing = kw_call_begin(in.op);
    kwi_thread_self->capacity = capacity;
    if (!KWI_FAULT(ANNOUNCE_AFTER_LEAVING)) {
        kwi_yield_interrupt(NULL, NULL);
        commit_and_reclaim();
    }
    return call_keeps_its_table();
}

Test(registry_fault, announced_after_the_section)
{
    expect_fault(table_is_kept_from_the_section_on, KWI_FAULT_ANNOUNCE_AFTER_LEAVING);
}

// The table that was found is gone before it is announced.
static bool late_announcement_is_noticed(void)
{
    scene in = make();
    changed = &in;
    KWT_OK(kw_thread_attach());
    kwi_yield_interrupt("kwi_announce_store", commit_and_reclaim);
    ongoing = kw_call_begin(in.op);
    bool is_newest = ongoing.table == kwi_operator_newest(in.op);
    kwi_u32_store_relaxed(&ongoing.thread->depth, kw_call_depth(ongoing)); // relaxed: one thread
    return is_newest;
}

Test(registry_fault, announced_and_not_checked)
{
    expect_fault(late_announcement_is_noticed, KWI_FAULT_ANNOUNCE_UNCHECKED);
}

// Publication -------------------------------------------------------------------------------------

static int64_t answered;

// What another thread does while a commit publishes.
static void call_once(void)
{
    kwt_tensor x = kwt_make_tensor("CPU");
    answered = kwt_result_t_i(called, &x);
}

static bool table_is_complete_before_anybody_finds_it(void)
{
    scene in = make();
    called = in.op;
    answered = -1;
    kwi_yield_interrupt(KWI_FAULT(TABLE_BEFORE_COMPLETE) ? "kwi_operator_publish" : "publish",
                        call_once);
    commit_one(&in);
    return answered == 1;
}

Test(registry_fault, table_published_before_it_is_complete)
{
    expect_fault(table_is_complete_before_anybody_finds_it, KWI_FAULT_TABLE_BEFORE_COMPLETE);
}

static bool call_leaves_no_announcement(void)
{
    scene in = make();
    kw_call call = kw_call_begin(in.op);
    uint32_t depth = kw_call_depth(call);
    kw_call_end(call, depth);
    bool is_back = kwi_u32_load_relaxed(&call.thread->depth) == depth; // relaxed, both: no other
    kwi_u32_store_relaxed(&call.thread->depth, depth);                 // relaxed: no other thread
    return is_back;
}

Test(registry_fault, end_of_a_call_forgets_a_level)
{
    expect_fault(call_leaves_no_announcement, KWI_FAULT_POP_FORGETS_LEVEL);
}

// The end of libraries ----------------------------------------------------------------------------

static bool closed_library_registers_nothing(void)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    kwt_close(library);
    kw_registration made = 0;
    const kw_kernel_descriptor kernel = KWT_T_I(1);
    kw_status status = kw_library_impl(library, "t::f", KW_KEY_CPU, &kernel, &made, NULL);
    if (status == KW_OK) {
        kwt_remove(library, made);
    }
    return status == KW_LIBRARY_CLOSED;
}

Test(registry_fault, closed_library_registers)
{
    expect_fault(closed_library_registers_nothing, KWI_FAULT_CLOSED_NOT_CHECKED);
}

static bool drain_waits_for_leases(void)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    kw_lease *lease = NULL;
    KWT_OK(kw_lease_begin(library, "thing", &lease, NULL));
    kwt_close(library);
    kw_status status = kw_library_drain(library, 0, NULL);
    kw_lease_end(lease);
    return status == KW_BUSY;
}

Test(registry_fault, drain_ignores_a_lease)
{
    expect_fault(drain_waits_for_leases, KWI_FAULT_LEASE_IGNORED);
}

static kw_library *drained;
static kw_status drain_status;

// Runs before the destructor has returned, so the drain must not succeed.
static void destroy_and_drain(void *user_data)
{
    (void)user_data;
    drain_status = kw_library_drain(drained, 0, NULL);
}

static bool drain_waits_for_destructors(void)
{
    drained = kwt_library(kwt_dispatcher(), "a");
    (void)kwt_impl(drained, "t::f", KW_KEY_CPU,
                   kwt_with(KW_BOXED(kwt_kernel_boxed), NULL, destroy_and_drain));
    kwt_close(drained);
    return drain_status == KW_BUSY;
}

Test(registry_fault, kernel_gone_before_its_destructor_has_returned)
{
    expect_fault(drain_waits_for_destructors, KWI_FAULT_GONE_BEFORE_DESTRUCTOR);
}
