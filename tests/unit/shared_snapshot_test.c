// Shared snapshots: a counted version that threads enter, and what becomes of it in every order.
//
// One thread plays all parts here; concurrency/shared_snapshots.c has several.
// SPDX-License-Identifier: MIT

#include <keyway/snapshot.h>

#include "rcu/thread.h"
#include "support/registry.h"

TestSuite(shared_snapshot, .init = kwt_begin, .fini = kwt_end);

typedef struct scene {
    kw_dispatcher *dispatcher;
    kw_library *library;
    const kw_operator *op;
} scene;

static scene make(void)
{
    scene made = {.dispatcher = kwt_dispatcher()};
    made.library = kwt_library(made.dispatcher, "a");
    (void)kwt_define(made.library, "t::f(Tensor x) -> int");
    (void)kwt_impl(made.library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    made.op = kwt_find(made.dispatcher, "t::f");
    return made;
}

static int64_t call_cpu(const scene *in)
{
    kwt_tensor tensor = kwt_make_tensor("CPU");
    return kwt_result_t_i(in->op, &tensor);
}

static void change(const scene *in, int64_t number)
{
    (void)kwt_impl(in->library, "t::f", KW_KEY_CPU, KWT_T_I(number));
}

static kw_shared_snapshot *share_newest(void)
{
    kw_shared_snapshot *shared = NULL;
    KWT_OK(kw_shared_snapshot_create(&shared, NULL));
    return shared;
}

Test(shared_snapshot, entered_one_answers_as_of_its_version)
{
    scene in = make();
    kw_shared_snapshot *shared = share_newest();
    cr_expect_eq(kw_shared_snapshot_version(shared), kw_version());
    change(&in, 2);
    cr_expect_eq(call_cpu(&in), 2, "making one enters nothing");
    kw_snapshot snapshot;
    KWT_OK(kw_shared_snapshot_enter(shared, &snapshot));
    cr_expect_eq(snapshot.version, kw_shared_snapshot_version(shared));
    cr_expect_eq(call_cpu(&in), 1);
    change(&in, 3);
    cr_expect_eq(call_cpu(&in), 1);
    KWT_OK(kw_snapshot_close(&snapshot));
    cr_expect_eq(call_cpu(&in), 3);
    kw_shared_snapshot_release(shared);
}

Test(shared_snapshot, keeps_its_version_after_the_one_it_was_made_of)
{
    scene in = make();
    kw_snapshot own;
    kw_shared_snapshot *shared = NULL;
    KWT_OK(kw_snapshot_open(&own));
    change(&in, 2);
    KWT_OK(kw_snapshot_share(&own, &shared, NULL));
    KWT_OK(kw_snapshot_close(&own));
    KWT_OK(kw_reclaim());
    change(&in, 3);
    KWT_OK(kw_shared_snapshot_enter(shared, &own));
    cr_expect_eq(call_cpu(&in), 1);
    KWT_OK(kw_snapshot_close(&own));
    kw_shared_snapshot_release(shared);
}

Test(shared_snapshot, own_pin_keeps_the_version_after_the_last_reference)
{
    scene in = make();
    kw_shared_snapshot *shared = share_newest();
    change(&in, 2);
    kw_snapshot snapshot;
    KWT_OK(kw_shared_snapshot_enter(shared, &snapshot));
    kw_shared_snapshot_release(shared);
    change(&in, 3);
    KWT_OK(kw_reclaim());
    cr_expect_eq(call_cpu(&in), 1);
    KWT_OK(kw_snapshot_share(&snapshot, &shared, NULL));
    KWT_OK(kw_snapshot_close(&snapshot));
    KWT_OK(kw_reclaim());
    KWT_OK(kw_shared_snapshot_enter(shared, &snapshot));
    cr_expect_eq(call_cpu(&in), 1, "handed on from thread to object and back");
    KWT_OK(kw_snapshot_close(&snapshot));
    kw_shared_snapshot_release(shared);
}

Test(shared_snapshot, references_end_in_any_order)
{
    scene in = make();
    kw_shared_snapshot *shared[3];
    for (int i = 0; i < 3; i++) { // three versions, in the order of the list and others
        shared[i] = share_newest();
        change(&in, 2 + i);
    }
    cr_expect_eq(kw_shared_snapshot_retain(shared[1]), shared[1]);
    static const int order[] = {1, 2, 1, 0};
    static const unsigned left[] = {3, 2, 1, 0};
    for (size_t i = 0; i < 4; i++) {
        kw_shared_snapshot_release(shared[order[i]]);
        cr_expect_eq(kwt_statistics().shared_snapshot_count, left[i]);
        KWT_OK(kw_reclaim());
        cr_expect_eq(kwt_statistics().held_table_count, left[i], "one table for each that is left");
    }
    cr_expect_eq(kwt_statistics().retired_count, 0);
    cr_expect_null(kw_shared_snapshot_retain(NULL));
    kw_shared_snapshot_release(NULL);
    cr_expect_eq(kw_shared_snapshot_version(NULL), 0);
}

Test(shared_snapshot, nests_with_snapshots_of_its_version)
{
    scene in = make();
    kw_snapshot outer;
    kw_snapshot entered;
    kw_snapshot inner;
    KWT_OK(kw_snapshot_open(&outer));
    kw_shared_snapshot *shared = NULL;
    KWT_OK(kw_snapshot_share(&outer, &shared, NULL));
    change(&in, 2);
    KWT_OK(kw_shared_snapshot_enter(shared, &entered));
    KWT_OK(kw_snapshot_open(&inner));
    cr_expect_eq(inner.version, outer.version);
    KWT_STATUS(KW_WRONG_ORDER, kw_snapshot_close(&entered));
    KWT_OK(kw_snapshot_close(&inner));
    KWT_OK(kw_snapshot_close(&entered));
    KWT_STATUS(KW_WRONG_ORDER, kw_snapshot_close(&entered));
    kw_shared_snapshot_release(shared);
    cr_expect_eq(call_cpu(&in), 1, "the outer one still holds");
    KWT_OK(kw_snapshot_close(&outer));
    cr_expect_eq(call_cpu(&in), 2);
}

Test(shared_snapshot, thread_under_another_version_is_refused)
{
    scene in = make();
    kw_shared_snapshot *shared = share_newest();
    change(&in, 2);
    kw_snapshot own;
    kw_snapshot entered = {.version = 77};
    KWT_OK(kw_snapshot_open(&own));
    KWT_STATUS(KW_OTHER_VERSION, kw_shared_snapshot_enter(shared, &entered));
    cr_expect_eq(entered.version, 77, "outputs are untouched");
    cr_expect_eq(call_cpu(&in), 2);
    KWT_OK(kw_snapshot_close(&own));
    KWT_OK(kw_shared_snapshot_enter(shared, &entered));
    kw_shared_snapshot *again = share_newest();
    cr_expect_eq(kw_shared_snapshot_version(again), entered.version, "made under it: its version");
    KWT_OK(kw_snapshot_close(&entered));
    kw_shared_snapshot_release(again);
    kw_shared_snapshot_release(shared);
}

Test(shared_snapshot, only_an_open_snapshot_is_shared)
{
    (void)make();
    kw_snapshot outer;
    kw_snapshot inner;
    kw_shared_snapshot *shared = NULL;
    kw_error err = KW_ERROR_INIT;
    KWT_OK(kw_snapshot_open(&outer));
    KWT_OK(kw_snapshot_open(&inner));
    KWT_OK(kw_snapshot_share(&outer, &shared, NULL));
    kw_shared_snapshot_release(shared);
    shared = NULL;
    KWT_OK(kw_snapshot_close(&inner));
    KWT_STATUS(KW_WRONG_ORDER, kw_snapshot_share(&inner, &shared, &err));
    KWT_HAS(err.text, "not open on this thread");
    inner = outer;
    inner.depth = 2;
    KWT_STATUS(KW_WRONG_ORDER, kw_snapshot_share(&inner, &shared, &err));
    inner.depth = 1;
    inner.thread = &inner;
    KWT_STATUS(KW_WRONG_ORDER, kw_snapshot_share(&inner, &shared, &err));
    KWT_OK(kw_snapshot_close(&outer));
    KWT_STATUS(KW_WRONG_ORDER, kw_snapshot_share(&outer, &shared, &err));
    cr_expect_null(shared, "outputs are untouched");
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_snapshot_share(NULL, &shared, &err));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_snapshot_share(&outer, NULL, &err));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_shared_snapshot_create(NULL, &err));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_shared_snapshot_enter(NULL, &outer));
    shared = share_newest();
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_shared_snapshot_enter(shared, NULL));
    kw_shared_snapshot_release(shared);
}

Test(shared_snapshot, holds_a_closed_library_until_it_is_released)
{
    scene in = make();
    int destroyed = 0;
    (void)kwt_impl(in.library, "t::f", KW_KEY_CPU,
                   kwt_with(KWT_T_I(1), &destroyed, kwt_count_destroy));
    kw_shared_snapshot *shared = share_newest();
    kwt_close(in.library);
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_BUSY, kw_library_drain(in.library, 0, &err));
    KWT_HAS(err.text, "held by a shared snapshot of version");
    KWT_STATUS(KW_BUSY, kw_library_drain(in.library, 1000000, &err));
    kw_snapshot entered;
    KWT_OK(kw_shared_snapshot_enter(shared, &entered));
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_library_drain(in.library, 0, &err));
    KWT_OK(kw_snapshot_close(&entered));
    cr_expect_eq(destroyed, 0);
    kw_shared_snapshot_release(shared);
    KWT_OK(kw_library_drain(in.library, 0, &err));
    cr_expect_eq(destroyed, 1);
}

Test(shared_snapshot, library_may_be_closed_and_opened_again_under_it)
{
    scene in = make();
    kw_shared_snapshot *shared = share_newest();
    kwt_close(in.library);
    kw_library *again = kwt_library(in.dispatcher, "b");
    (void)kwt_define(again, "t::f(Tensor x) -> int");
    (void)kwt_impl(again, "t::f", KW_KEY_CPU, KWT_T_I(2));
    kw_snapshot entered;
    KWT_OK(kw_shared_snapshot_enter(shared, &entered));
    cr_expect_eq(call_cpu(&in), 1);
    KWT_OK(kw_snapshot_close(&entered));
    cr_expect_eq(call_cpu(&in), 2);
    kw_shared_snapshot_release(shared);
}
