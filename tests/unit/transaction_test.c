// Transactions: several changes for several libraries become visible as a whole, in their order.
// SPDX-License-Identifier: MIT

#include <keyway/snapshot.h>

#include "support/registry.h"

TestSuite(transaction, .init = kwt_begin, .fini = kwt_end);

static kw_registration stage_impl(kw_transaction *tx, kw_library *library, const char *name,
                                  kw_key key, kw_kernel_descriptor kernel)
{
    kw_registration made = 0;
    KWT_OK(kw_transaction_impl(tx, library, name, key, &kernel, &made, NULL));
    return made;
}

static kw_registration stage_define(kw_transaction *tx, kw_library *library, const char *schema)
{
    const kw_definition definition = KW_DEFINE(schema);
    kw_registration made = 0;
    KWT_OK(kw_transaction_define(tx, library, &definition, &made, NULL));
    return made;
}

Test(transaction, commit_makes_changes_of_all_libraries_visible_at_once)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *a = kwt_library(dispatcher, "a");
    kw_library *b = kwt_library(dispatcher, "b");
    kw_transaction *tx = kwt_transaction(dispatcher);
    (void)stage_define(tx, a, "t::f(Tensor x) -> int");
    (void)stage_impl(tx, b, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)stage_impl(tx, a, "t::f", KW_KEY_CUDA, KWT_T_I(2));
    cr_assert_not(kwt_is_visible(dispatcher, "t::f"), "staging shows nothing");

    uint64_t version = 0;
    uint64_t before = kw_version();
    KWT_OK(kw_transaction_commit(tx, NULL, &version, NULL));
    cr_expect_eq(version, before + 1, "one commit, one version");
    cr_expect_eq(kw_version(), version);
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_tensor cpu = kwt_make_tensor("CPU, AutogradCPU");
    kwt_tensor cuda = kwt_make_tensor("CUDA, AutogradCUDA");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1);
    cr_expect_eq(kwt_result_t_i(op, &cuda), 2);
}

Test(transaction, empty_commit_raises_version_and_changes_nothing)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    uint64_t before = kw_version();
    uint64_t bytes = kwt_live_bytes();
    uint64_t version = 0;
    KWT_OK(kw_transaction_commit(kwt_transaction(dispatcher), NULL, &version, NULL));
    cr_expect_eq(version, before + 1);
    cr_expect_eq(kwt_statistics().operator_count, 0);
    cr_expect_eq(kwt_live_bytes(), bytes);
}

Test(transaction, each_library_function_is_one_commit)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    uint64_t version = kw_version();
    kw_registration defined = kwt_define(library, "t::f(Tensor x) -> int");
    cr_expect_eq(kw_version(), version + 1);
    kw_registration impl = kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    cr_expect_eq(kw_version(), version + 2);
    (void)kwt_fallback(library, KW_KEY_Tracer, KW_FALLTHROUGH());
    cr_expect_eq(kw_version(), version + 3);
    kwt_remove(library, impl);
    kwt_remove(library, defined);
    cr_expect_eq(kw_version(), version + 5);
    kwt_close(library);
    cr_expect_eq(kw_version(), version + 6);
}

Test(transaction, abort_leaves_everything_as_it_was)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    const char *before = kwt_picture(dispatcher);
    uint64_t bytes = kwt_live_bytes();
    int destroyed = 0;

    kw_transaction *tx = kwt_transaction(dispatcher);
    (void)stage_define(tx, library, "t::g(Tensor x) -> int");
    (void)stage_impl(tx, library, "t::f", KW_KEY_CPU,
                     kwt_with(KWT_T_I(1), &destroyed, kwt_count_destroy));
    KWT_OK(kw_transaction_close(tx, library, NULL));
    kw_transaction_abort(tx);

    cr_expect_str_eq(kwt_picture(dispatcher), before);
    cr_expect_eq(kwt_live_bytes(), bytes);
    cr_expect_eq(destroyed, 0, "the user data still belongs to the caller");
    (void)kwt_define(library, "t::g(Tensor x) -> int"); // the library is open
}

Test(transaction, abort_of_nothing_is_allowed)
{
    kw_transaction_abort(NULL);
}

Test(transaction, changes_take_effect_in_their_order)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    kw_transaction *tx = kwt_transaction(dispatcher);
    (void)stage_impl(tx, library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)stage_impl(tx, library, "t::f", KW_KEY_CPU, KWT_T_I(2));
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 2, "the later one covers the earlier");
}

Test(transaction, removal_then_definition_replaces_the_schema)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration old = kwt_define(library, "t::f(Tensor x) -> int");
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_remove(tx, library, old, NULL));
    (void)stage_define(tx, library, "t::f(Tensor y) -> int");
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    cr_expect_str_eq(kwt_schema(kwt_find(dispatcher, "t::f")), "t::f(Tensor y) -> int");
}

Test(transaction, definition_before_the_removal_of_the_old_one_fails)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration old = kwt_define(library, "t::f(Tensor x) -> int");
    kw_transaction *tx = kwt_transaction(dispatcher);
    (void)stage_define(tx, library, "t::f(Tensor y) -> int");
    KWT_OK(kw_transaction_remove(tx, library, old, NULL));
    KWT_STATUS(KW_CONFLICTING_SCHEMA, kw_transaction_commit(tx, NULL, NULL, NULL));
    cr_expect_str_eq(kwt_schema(kwt_find(dispatcher, "t::f")), "t::f(Tensor x) -> int");
}

Test(transaction, registration_made_and_removed_in_one_commit_never_shows)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    int destroyed = 0;
    uint64_t kernels = kwt_statistics().kernel_count;
    kw_transaction *tx = kwt_transaction(dispatcher);
    kw_registration made = stage_impl(tx, library, "t::f", KW_KEY_CPU,
                                      kwt_with(KWT_T_I(1), &destroyed, kwt_count_destroy));
    KWT_OK(kw_transaction_remove(tx, library, made, NULL));
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    cr_expect_eq(destroyed, 1, "the library owned it, and has given it up");
    cr_expect_eq(kwt_statistics().kernel_count, kernels);
    cr_expect_not(kw_operator_has_kernel(kwt_find(dispatcher, "t::f"), KW_KEY_CPU));
}

Test(transaction, operator_defined_and_removed_in_one_commit_stays_invisible)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_transaction *tx = kwt_transaction(dispatcher);
    kw_registration made = stage_define(tx, library, "t::f(Tensor x) -> int");
    KWT_OK(kw_transaction_remove(tx, library, made, NULL));
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    cr_expect_not(kwt_is_visible(dispatcher, "t::f"));
    cr_expect_eq(kwt_statistics().operator_count, 0);
}

Test(transaction, close_in_the_middle_refuses_what_follows_and_undoes_what_came_before)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    const char *before = kwt_picture(dispatcher);
    kw_transaction *tx = kwt_transaction(dispatcher);
    (void)stage_impl(tx, library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    KWT_OK(kw_transaction_close(tx, library, NULL));
    (void)stage_impl(tx, library, "t::f", KW_KEY_CUDA, KWT_T_I(2));
    KWT_STATUS(KW_LIBRARY_CLOSED, kw_transaction_commit(tx, NULL, NULL, NULL));
    cr_expect_str_eq(kwt_picture(dispatcher), before);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1)); // it is open again
}

Test(transaction, one_library_can_take_over_from_another)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *old = kwt_library(dispatcher, "old");
    kw_library *new = kwt_library(dispatcher, "new");
    (void)kwt_define(old, "t::f(Tensor x) -> int");
    (void)kwt_impl(old, "t::f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");

    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_close(tx, old, NULL));
    (void)stage_define(tx, new, "t::f(Tensor x) -> int");
    (void)stage_impl(tx, new, "t::f", KW_KEY_CPU, KWT_T_I(2));
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    kwt_end_library(old);

    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_expect_eq(kwt_find(dispatcher, "t::f"), op, "the handle goes on");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 2);
}

Test(transaction, numbers_are_unique_and_never_reused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *a = kwt_library(dispatcher, "a");
    kw_library *b = kwt_library(dispatcher, "b");
    (void)kwt_define(a, "t::f(Tensor x) -> int");
    kw_registration first = kwt_impl(a, "t::f", KW_KEY_CPU, KWT_T_I(1));
    kwt_remove(a, first);
    kw_registration second = kwt_impl(a, "t::f", KW_KEY_CPU, KWT_T_I(1));
    kw_registration third = kwt_impl(b, "t::f", KW_KEY_CPU, KWT_T_I(1));
    cr_expect_neq(first, 0);
    cr_expect_neq(second, first);
    cr_expect_neq(third, first);
    cr_expect_neq(third, second);
}

Test(transaction, deferred_reclaim_keeps_replaced_tables_until_asked)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    cr_expect_eq(kwt_statistics().retired_count, 0);
    const kw_commit_options options = {.struct_size = sizeof options, .defer_reclaim = true};
    kw_transaction *tx = kwt_transaction(dispatcher);
    (void)stage_impl(tx, library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    KWT_OK(kw_transaction_commit(tx, &options, NULL, NULL));
    cr_expect_eq(kwt_statistics().retired_count, 1);
    KWT_OK(kw_reclaim());
    cr_expect_eq(kwt_statistics().retired_count, 0);
}

Test(transaction, deferred_reclaim_has_a_limit)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    const kw_commit_options options = {.struct_size = sizeof options, .defer_reclaim = true};
    uint64_t most = 0;
    for (int i = 0; i < 5000; i++) {
        kw_transaction *tx = kwt_transaction(dispatcher);
        kw_registration made = stage_impl(tx, library, "t::f", KW_KEY_CPU, KWT_T_I(1));
        KWT_OK(kw_transaction_commit(tx, &options, NULL, NULL));
        tx = kwt_transaction(dispatcher);
        KWT_OK(kw_transaction_remove(tx, library, made, NULL));
        KWT_OK(kw_transaction_commit(tx, &options, NULL, NULL));
        uint64_t retired = kwt_statistics().retired_count;
        most = retired > most ? retired : most;
    }
    cr_expect_leq(most, 1024);
    cr_expect_gt(most, 100, "reclaiming was deferred");
}
