// Look-ups: operators by name, by name and signature, all of them, and what they tell.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include "support/registry.h"

TestSuite(find, .init = kwt_begin, .fini = kwt_end);

Test(find, name_with_overload_is_found_exactly)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f.out(int x) -> int");
    cr_expect_str_eq(kw_operator_name(kwt_find(dispatcher, "t::f.out")), "t::f.out");
    cr_expect_not(kwt_is_visible(dispatcher, "t::f"));
    cr_expect_not(kwt_is_visible(dispatcher, "t::f.ou"));
    cr_expect_not(kwt_is_visible(dispatcher, "t::f.outer"));
    cr_expect_not(kwt_is_visible(dispatcher, "T::f.out"));
}

Test(find, malformed_name_is_told_from_an_unknown_one)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    static const char *const malformed[] = {"",    "t::", "::f", "t::f.", "t::f(int x)",
                                            "t f", "t::1"};
    const kw_operator *op = NULL;
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        kw_status status = kw_operator_find(dispatcher, malformed[i], &op, NULL);
        cr_expect(status == KW_MALFORMED_NAME || status == KW_NAME_EXPECTED, "%s: %s", malformed[i],
                  kw_status_name(status));
    }
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_NOT_FOUND, kw_operator_find(dispatcher, "t::f", &op, &err));
    KWT_HAS(err.text, "`t::f`");
    cr_expect_null(op);
}

Test(find, typed_look_up_wants_definition_and_signature)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x, int[] sizes, float? p) -> (Tensor, bool)");
    (void)kwt_impl(library, "t::g", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = NULL;
    kw_error err = KW_ERROR_INIT;
    KWT_OK(kw_operator_find_typed(dispatcher, "t::f", "tI?d>tb", &op, &err));
    cr_expect_eq(op, kwt_find(dispatcher, "t::f"));
    op = NULL;
    KWT_STATUS(KW_SIGNATURE_MISMATCH,
               kw_operator_find_typed(dispatcher, "t::f", "tI>tb", &op, &err));
    KWT_HAS(err.text, "`tI?d>tb`");
    KWT_HAS(err.text, "`tI>tb`");
    KWT_STATUS(KW_OPERATOR_UNDEFINED, kw_operator_find_typed(dispatcher, "t::g", "t>i", &op, &err));
    KWT_HAS(err.text, "t::g");
    KWT_STATUS(KW_NOT_FOUND, kw_operator_find_typed(dispatcher, "t::h", "t>i", &op, &err));
    cr_expect_null(op, "outputs are untouched");
}

Test(find, missing_arguments_are_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *op = NULL;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_operator_find(NULL, "t::f", &op, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_operator_find(dispatcher, NULL, &op, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_operator_find(dispatcher, "t::f", NULL, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_operator_find_typed(dispatcher, "t::f", NULL, &op, NULL));
    cr_expect_str_eq(kw_operator_name(NULL), "");
    cr_expect_eq(kw_operator_schema(NULL, NULL, 0), 0);
    cr_expect_not(kw_operator_has_kernel(NULL, KW_KEY_CPU));
    cr_expect_not(kw_operator_has_computed_kernel(NULL, KW_KEY_CPU));
}

Test(find, thousands_of_names_are_all_found)
{
    enum {
        COUNT = 3000
    };
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    static const kw_operator *ops[COUNT];
    kw_transaction *tx = kwt_transaction(dispatcher);
    char text[64];
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(text, sizeof text, "t::f%d(int x) -> int", i);
        const kw_definition definition = KW_DEFINE(text);
        KWT_OK(kw_transaction_define(tx, library, &definition, NULL, NULL));
    }
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(text, sizeof text, "t::f%d", i);
        ops[i] = kwt_find(dispatcher, text);
        cr_assert_str_eq(kw_operator_name(ops[i]), text);
    }
    cr_expect_eq(kwt_statistics().operator_count, COUNT);
    kwt_close(library);
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(text, sizeof text, "t::f%d", i);
        cr_assert_not(kwt_is_visible(dispatcher, text));
    }
}

Test(find, schema_is_copied_as_far_as_there_is_room)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    (void)kwt_define(kwt_library(dispatcher, "a"), "t::f(int x) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    const size_t length = strlen("t::f(int x) -> int");
    char buffer[64];
    cr_expect_eq(kw_operator_schema(op, NULL, 0), length);
    memset(buffer, 'x', sizeof buffer);
    cr_expect_eq(kw_operator_schema(op, buffer, 5), length);
    cr_expect_lt(strlen(buffer), 5, "cut, and terminated");
    cr_expect_eq(buffer[5], 'x', "nothing beyond the size");
    cr_expect_eq(kw_operator_schema(op, buffer, sizeof buffer), length);
    cr_expect_str_eq(buffer, "t::f(int x) -> int");
    cr_expect_eq(kw_operator_schema(op, buffer, length + 1), length);
    cr_expect_str_eq(buffer, "t::f(int x) -> int");
}

static void count_operator(const kw_operator *op, void *context)
{
    int *counts = context;
    counts[strcmp(kw_operator_name(op), "t::f") == 0 ? 0 : 1]++;
}

Test(find, visit_sees_every_visible_operator_once)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(kwt_library(kwt_dispatcher(), "other"), "t::elsewhere(int x) -> int");
    (void)kwt_define(library, "t::f(int x) -> int");
    (void)kwt_impl(library, "t::dangling", KW_KEY_CPU, KWT_T_I(1));
    kwt_remove(library, kwt_define(library, "t::gone(int x) -> int"));
    int counts[2] = {0, 0};
    KWT_OK(kw_dispatcher_visit(dispatcher, count_operator, counts));
    cr_expect_eq(counts[0], 1);
    cr_expect_eq(counts[1], 1);
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_dispatcher_visit(NULL, count_operator, counts));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_dispatcher_visit(dispatcher, NULL, counts));
}

static void define_another(const kw_operator *op, void *context)
{
    (void)op;
    (void)kwt_define(context, "t::another(int x) -> int");
}

Test(find, visitor_may_register)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(int x) -> int");
    KWT_OK(kw_dispatcher_visit(dispatcher, define_another, library));
    cr_expect(kwt_is_visible(dispatcher, "t::another"));
}

Test(find, has_kernel_asks_for_exactly_the_key)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_Autograd, KWT_T_I(1));
    (void)kwt_impl(library, "t::f", KW_KEY_XLA, KW_FALLTHROUGH());
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect(kw_operator_has_kernel(op, KW_KEY_Autograd));
    cr_expect_not(kw_operator_has_kernel(op, KW_KEY_AutogradCPU));
    cr_expect(kw_operator_has_computed_kernel(op, KW_KEY_AutogradCPU));
    cr_expect_not(kw_operator_has_computed_kernel(op, KW_KEY_Autograd));
    cr_expect(kw_operator_has_kernel(op, KW_KEY_XLA), "a fallthrough is a kernel");
    cr_expect(kw_operator_has_computed_kernel(op, KW_KEY_XLA));
    cr_expect_not(kw_operator_has_kernel(op, KW_KEY_LIMIT));
    cr_expect_not(kw_operator_has_computed_kernel(op, KW_KEY_LIMIT));
}
