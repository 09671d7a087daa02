// Snapshots: calls, look-ups and dumps as of one version, whatever is committed meanwhile.
// SPDX-License-Identifier: MIT

#include <keyway/snapshot.h>

#include "support/registry.h"

TestSuite(snapshot, .init = kwt_begin, .fini = kwt_end);

static int64_t call_with(const kw_operator *op, const char *keys)
{
    kwt_tensor tensor = kwt_make_tensor(keys);
    return kwt_result_t_i(op, &tensor);
}

static kw_snapshot open_snapshot(void)
{
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    cr_assert_eq(snapshot.version, kw_version());
    return snapshot;
}

Test(snapshot, calls_answer_as_of_its_version)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    kw_registration first = kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kw_snapshot snapshot = open_snapshot();
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(2));
    cr_expect_eq(call_with(op, "CPU"), 1);
    kwt_remove(library, first);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(3));
    (void)kwt_fallback(library, KW_KEY_CUDA, KWT_BOXED(4));
    cr_expect_eq(call_with(op, "CPU"), 1);
    kwt_tensor cuda = kwt_make_tensor("CUDA");
    int64_t number;
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, kwt_call_t_i(op, &cuda, &number));
    kw_value arg = kw_value_tensor(&cuda);
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, kwt_call_frame(op, &arg, 1, &number));
    KWT_OK(kw_snapshot_close(&snapshot));
    cr_expect_eq(call_with(op, "CPU"), 3, "one's own commits show afterwards");
    cr_expect_eq(call_with(op, "CUDA"), 4);
}

Test(snapshot, redispatches_stay_in_it)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kw_snapshot snapshot = open_snapshot();
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(2));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    int64_t number = 0;
    KWT_OK(kwt_redispatch_t_i(op, kwt_keyset("CPU"), &cpu, &number));
    cr_expect_eq(number, 1);
    KWT_OK(kw_snapshot_close(&snapshot));
}

Test(snapshot, closed_library_serves_on_inside_it)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    int destroyed = 0;
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU,
                   kwt_with(KWT_T_I(1), &destroyed, kwt_count_destroy));
    kw_snapshot snapshot = open_snapshot();
    kwt_close(library);
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect_eq(call_with(op, "CPU"), (int64_t)(intptr_t)&destroyed);
    cr_expect_str_eq(kwt_schema(op), "t::f(Tensor x) -> int");
    const kw_operator *typed = NULL;
    KWT_OK(kw_operator_find_typed(dispatcher, "t::f", "t>i", &typed, NULL));
    cr_expect_eq(destroyed, 0);
    KWT_OK(kw_snapshot_close(&snapshot));
    cr_expect_not(kwt_is_visible(dispatcher, "t::f"));
    KWT_OK(kw_library_drain(library, 0, NULL));
    cr_expect_eq(destroyed, 1);
}

static void count_operator(const kw_operator *op, void *context)
{
    (void)op;
    ++*(int *)context;
}

static int visible_count(kw_dispatcher *dispatcher)
{
    int count = 0;
    KWT_OK(kw_dispatcher_visit(dispatcher, count_operator, &count));
    return count;
}

Test(snapshot, younger_operator_is_invisible)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_snapshot snapshot = open_snapshot();
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = NULL;
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_NOT_FOUND, kw_operator_find(dispatcher, "t::f", &op, &err));
    KWT_STATUS(KW_NOT_FOUND, kw_operator_find_typed(dispatcher, "t::f", "t>i", &op, &err));
    cr_expect_eq(visible_count(dispatcher), 0);
    KWT_OK(kw_snapshot_close(&snapshot));
    cr_expect_eq(visible_count(dispatcher), 1);
    op = kwt_find(dispatcher, "t::f");
    cr_expect_eq(call_with(op, "CPU"), 1);
}

Test(snapshot, handle_of_a_younger_operator_answers_removed)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_close(library);
    kw_snapshot snapshot = open_snapshot();
    kw_library *again = kwt_library(dispatcher, "b");
    (void)kwt_define(again, "t::f(Tensor x) -> int");
    (void)kwt_impl(again, "t::f", KW_KEY_CPU, KWT_T_I(2));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_value arg = kw_value_tensor(&cpu);
    int64_t number = 9;
    KWT_STATUS(KW_OPERATOR_REMOVED, kwt_call_t_i(op, &cpu, &number));
    KWT_HAS(kw_call_error(), "`t::f`");
    KWT_STATUS(KW_OPERATOR_REMOVED, kwt_call_frame(op, &arg, 1, &number));
    cr_expect_eq(number, 9);
    cr_expect_not(kw_operator_has_computed_kernel(op, KW_KEY_CPU));
    KWT_OK(kw_snapshot_close(&snapshot));
    cr_expect_eq(call_with(op, "CPU"), 2);
}

// A typed handle to an operator whose signature was unknown when the snapshot was opened.
Test(snapshot, table_from_before_the_signature_was_known_refuses_typed_calls)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_BOXED(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kw_snapshot snapshot = open_snapshot();
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    int64_t number = 9;
    KWT_STATUS(KW_OPERATOR_REMOVED, kwt_call_t_i(op, &cpu, &number));
    cr_expect_eq(number, 9);
    KWT_OK(kw_snapshot_close(&snapshot));
    cr_expect_eq(call_with(op, "CPU"), 1);
}

Test(snapshot, each_signature_of_a_name_answers_in_its_time)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration made = kwt_define(library, "t::f(Tensor x) -> int");
    const kw_operator *old = kwt_find(dispatcher, "t::f");
    kw_snapshot snapshot = open_snapshot();
    kwt_remove(library, made);
    (void)kwt_define(library, "t::f(int x) -> int");
    cr_expect_eq(kwt_find(dispatcher, "t::f"), old);
    cr_expect_eq(visible_count(dispatcher), 1);
    const kw_operator *typed = NULL;
    KWT_OK(kw_operator_find_typed(dispatcher, "t::f", "t>i", &typed, NULL));
    KWT_STATUS(KW_SIGNATURE_MISMATCH,
               kw_operator_find_typed(dispatcher, "t::f", "i>i", &typed, NULL));
    KWT_OK(kw_snapshot_close(&snapshot));
    cr_expect_neq(kwt_find(dispatcher, "t::f"), old);
}

Test(snapshot, dumps_answer_as_of_its_version)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    const char *before = kwt_dump_table(op);
    kw_snapshot snapshot = open_snapshot();
    (void)kwt_impl(library, "t::f", KW_KEY_CUDA, KWT_T_I(2));
    cr_expect_str_eq(kwt_dump_table(op), before);
    cr_expect_not(kw_operator_has_computed_kernel(op, KW_KEY_CUDA));
    kwt_close(library);
    cr_expect_str_eq(kwt_dump_table(op), before);
    cr_expect(kw_operator_has_computed_kernel(op, KW_KEY_CPU));
    KWT_OK(kw_snapshot_close(&snapshot));
    cr_expect_str_eq(kwt_dump_table(op), "");
}

Test(snapshot, nested_one_keeps_the_outer_version)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kw_snapshot outer = open_snapshot();
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(2));
    kw_snapshot inner;
    KWT_OK(kw_snapshot_open(&inner));
    cr_expect_eq(inner.version, outer.version);
    cr_expect_eq(call_with(op, "CPU"), 1);
    KWT_OK(kw_snapshot_close(&inner));
    cr_expect_eq(call_with(op, "CPU"), 1, "the outer one still holds");
    KWT_OK(kw_snapshot_close(&outer));
    cr_expect_eq(call_with(op, "CPU"), 2);
}

Test(snapshot, wrong_order_is_refused_and_changes_nothing)
{
    (void)kwt_dispatcher();
    kw_snapshot outer = open_snapshot();
    kw_snapshot inner = open_snapshot();
    KWT_STATUS(KW_WRONG_ORDER, kw_snapshot_close(&outer));
    KWT_OK(kw_snapshot_close(&inner));
    KWT_STATUS(KW_WRONG_ORDER, kw_snapshot_close(&inner));
    KWT_OK(kw_snapshot_close(&outer));
    KWT_STATUS(KW_WRONG_ORDER, kw_snapshot_close(&outer));
    kw_snapshot never = {0};
    KWT_STATUS(KW_WRONG_ORDER, kw_snapshot_close(&never));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_snapshot_close(NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_snapshot_open(NULL));
}

Test(snapshot, memory_is_one_table_an_operator_and_comes_back)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_library *swapper = kwt_library(dispatcher, "b");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_define(library, "t::g(Tensor x) -> int");
    kwt_remove(swapper, kwt_impl(swapper, "t::f", KW_KEY_CPU, KWT_T_I(0)));
    uint64_t bytes = kwt_live_bytes();
    kw_snapshot snapshot = open_snapshot();
    for (int i = 0; i < 300; i++) {
        kw_registration f = kwt_impl(swapper, "t::f", KW_KEY_CPU, KWT_T_I(i));
        kw_registration g = kwt_impl(swapper, "t::g", KW_KEY_CPU, KWT_T_I(i));
        kwt_remove(swapper, f);
        kwt_remove(swapper, g);
    }
    KWT_OK(kw_reclaim());
    cr_expect_eq(kwt_statistics().retired_count, 2, "the two tables of the snapshot");
    KWT_OK(kw_snapshot_close(&snapshot));
    KWT_OK(kw_reclaim());
    cr_expect_eq(kwt_statistics().retired_count, 0);
    cr_expect_eq(kwt_live_bytes(), bytes);
}
