// Entries: what becomes of an operator's handle when its definition goes, returns or changes.
// SPDX-License-Identifier: MIT

#include "support/registry.h"

TestSuite(registry_entry, .init = kwt_begin, .fini = kwt_end);

// A typed and a boxed call through a handle whose operator is gone.
static void expect_removed(const kw_operator *op)
{
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_value arg = kw_value_tensor(&cpu);
    int64_t number = 44;
    KWT_STATUS(KW_OPERATOR_REMOVED, kwt_call_t_i(op, &cpu, &number));
    KWT_HAS(kw_call_error(), "`t::f`");
    cr_expect_eq(number, 44, "outputs are untouched");
    KWT_STATUS(KW_OPERATOR_REMOVED, kwt_call_frame(op, &arg, 1, &number));
    KWT_HAS(kw_call_error(), "`t::f`");
    cr_expect_eq(kw_operator_schema(op, NULL, 0), 0);
    cr_expect_not(kw_operator_has_computed_kernel(op, KW_KEY_CPU));
    cr_expect_not(kw_operator_has_computed_kernel(op, KW_KEY_Undefined));
    cr_expect_str_eq(kwt_dump_table(op), "");
}

static int64_t call_cpu(const kw_operator *op)
{
    kwt_tensor cpu = kwt_make_tensor("CPU");
    return kwt_result_t_i(op, &cpu);
}

Test(registry_entry, removed_operator_answers_removed)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_end_library(library);
    cr_expect_not(kwt_is_visible(dispatcher, "t::f"));
    expect_removed(op);
    cr_expect_str_eq(kw_operator_name(op), "t::f", "the name stays readable");
}

Test(registry_entry, same_signature_reuses_the_handle)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *first = NULL;
    uint64_t bytes = 0;
    for (int64_t i = 1; i <= 5; i++) {
        kw_library *library = kwt_library(dispatcher, "a");
        (void)kwt_define(library, "t::f(Tensor x) -> int");
        (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(i));
        const kw_operator *op = kwt_find(dispatcher, "t::f");
        first = first != NULL ? first : op;
        cr_expect_eq(op, first);
        cr_expect_eq(call_cpu(op), i);
        kwt_end_library(library);
        expect_removed(op);
        bytes = bytes != 0 ? bytes : kwt_live_bytes();
        cr_expect_eq(kwt_live_bytes(), bytes, "coming and going costs nothing");
    }
}

Test(registry_entry, other_names_of_arguments_are_the_same_signature)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration made = kwt_define(library, "t::f(Tensor x) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_remove(library, made);
    (void)kwt_define(library, "t::f(Tensor? other=None) -> int");
    cr_expect_eq(kwt_find(dispatcher, "t::f"), op);
}

Test(registry_entry, another_signature_makes_another_handle)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration made = kwt_define(library, "t::f(Tensor x) -> int");
    kw_registration kernel = kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *old = kwt_find(dispatcher, "t::f");
    kwt_remove(library, made);
    kwt_remove(library, kernel);
    (void)kwt_define(library, "t::f(int x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_I_I(5));

    const kw_operator *new = kwt_find(dispatcher, "t::f");
    cr_expect_neq(new, old);
    expect_removed(old);
    cr_expect_eq(kwt_result_i_i(new, 2), 7);
    const kw_operator *typed = NULL;
    KWT_STATUS(KW_SIGNATURE_MISMATCH,
               kw_operator_find_typed(dispatcher, "t::f", "t>i", &typed, NULL));
    KWT_OK(kw_operator_find_typed(dispatcher, "t::f", "i>i", &typed, NULL));
    cr_expect_eq(typed, new);
    cr_expect_eq(kwt_statistics().operator_count, 1);
}

Test(registry_entry, superseded_handle_answers_removed_while_another_signature_is_in_force)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration made = kwt_define(library, "t::f(Tensor x) -> int");
    const kw_operator *old = kwt_find(dispatcher, "t::f");
    kwt_remove(library, made);
    made = kwt_define(library, "t::f(int x) -> int");
    expect_removed(old);
    const kw_operator *new = kwt_find(dispatcher, "t::f");
    kwt_remove(library, made);
    expect_removed(old);
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    int64_t number;
    KWT_STATUS(KW_OPERATOR_REMOVED, kwt_call_i_i(new, 1, &number));
    cr_expect_eq(call_cpu(kwt_find(dispatcher, "t::f")), 1);
    cr_expect_eq(kwt_statistics().operator_count, 1);
}

Test(registry_entry, alternating_signatures_do_not_grow)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    uint64_t bytes = 0;
    for (int i = 0; i < 20; i++) {
        kwt_remove(library, kwt_define(library, "t::f(Tensor x) -> int"));
        kwt_remove(library, kwt_define(library, "t::f(int x) -> int"));
        bytes = bytes != 0 ? bytes : kwt_live_bytes();
        cr_expect_eq(kwt_live_bytes(), bytes);
    }
}

Test(registry_entry, signature_changes_within_one_commit)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration made = kwt_define(library, "t::f(Tensor x) -> int");
    const kw_operator *old = kwt_find(dispatcher, "t::f");
    const kw_definition other = KW_DEFINE("t::f(int x) -> int");
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_remove(tx, library, made, NULL));
    KWT_OK(kw_transaction_define(tx, library, &other, NULL, NULL));
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    cr_expect_neq(kwt_find(dispatcher, "t::f"), old);
    expect_removed(old);
    cr_expect_eq(kwt_statistics().operator_count, 1);
}

// Removes the definition, defines `schema`, and fails.
static void fail_to_replace(kw_dispatcher *dispatcher, kw_library *library, kw_registration old,
                            const char *schema)
{
    const kw_definition other = KW_DEFINE(schema);
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_remove(tx, library, old, NULL));
    KWT_OK(kw_transaction_define(tx, library, &other, NULL, NULL));
    KWT_OK(kw_transaction_remove(tx, library, UINT64_MAX, NULL));
    KWT_STATUS(KW_NOT_FOUND, kw_transaction_commit(tx, NULL, NULL, NULL));
}

Test(registry_entry, failed_change_of_signature_leaves_the_definition_in_force)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration made = kwt_define(library, "t::f(Tensor x) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    fail_to_replace(dispatcher, library, made, "t::f(int x) -> int");

    (void)kwt_refuse_define(library, "t::f(Tensor x) -> int", KW_ALREADY_DEFINED);
    (void)kwt_refuse_define(library, "t::f(int x) -> int", KW_CONFLICTING_SCHEMA);
    (void)kwt_refuse_impl(library, "t::f", KW_KEY_CPU, KWT_I_I(1), KW_SIGNATURE_MISMATCH);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    cr_expect_eq(kwt_find(dispatcher, "t::f"), op);
    cr_expect_eq(call_cpu(op), 1);
    cr_expect_eq(kwt_statistics().operator_count, 1);
}

Test(registry_entry, failed_definition_of_another_signature_does_not_end_the_handle)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration made = kwt_define(library, "t::f(Tensor x) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    fail_to_replace(dispatcher, library, made, "t::f(int x) -> int");
    kwt_remove(library, made);
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    cr_expect_eq(kwt_find(dispatcher, "t::f"), op);
    cr_expect_eq(call_cpu(op), 1);
}

Test(registry_entry, repeated_failures_do_not_grow)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration made = kwt_define(library, "t::f(Tensor x) -> int");
    fail_to_replace(dispatcher, library, made, "t::f(int x) -> int");
    uint64_t bytes = kwt_live_bytes();
    for (int i = 0; i < 20; i++) {
        fail_to_replace(dispatcher, library, made, "t::f(int x) -> int");
    }
    cr_expect_eq(kwt_live_bytes(), bytes);
}

Test(registry_entry, names_without_a_registration_are_counted_apart)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    cr_expect_eq(kwt_statistics().interned_bytes, 0);
    cr_expect_eq(kwt_statistics().operator_count, 1);
    kwt_end_library(library);
    kw_statistics figures = kwt_statistics();
    cr_expect_eq(figures.operator_count, 0);
    cr_expect_gt(figures.interned_bytes, 0);
    cr_expect_lt(figures.interned_bytes, 1024, "a small entry");
    cr_expect_leq(figures.interned_bytes, figures.memory_bytes);
}

// S28, S39
Test(registry_entry, refused_commit_fixes_no_signature_for_a_boxed_kernel)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::other(Tensor x) -> int");
    kw_transaction *tx = kwt_transaction(dispatcher);
    const kw_definition twice = KW_DEFINE("t::other(Tensor x) -> int");
    const kw_kernel_descriptor kernel = KWT_T_I(1);
    KWT_OK(kw_transaction_impl(tx, library, "t::f", KW_KEY_CPU, &kernel, NULL, NULL));
    KWT_OK(kw_transaction_define(tx, library, &twice, NULL, NULL));
    KWT_STATUS(KW_ALREADY_DEFINED, kw_transaction_commit(tx, NULL, NULL, NULL));

    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_BOXED(2));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    (void)kwt_impl(library, "t::f", KW_KEY_CUDA, KWT_I_I(3));
    cr_expect_eq(kwt_find(dispatcher, "t::f"), op, "its handle stays");
    cr_expect(kw_operator_has_computed_kernel(op, KW_KEY_CPU));
}
