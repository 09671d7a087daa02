// Refusals: what a call that finds no kernel answers, and that its text helps.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <stdlib.h>

#include "support/registry.h"

TestSuite(error, .init = kwt_begin, .fini = kwt_end);

// Calls t::f(Tensor x) both ways, which must refuse alike; returns the text.
static const char *refused(const kw_operator *op, const char *keys, kw_status wanted)
{
    static char typed[2048];
    kwt_tensor tensor = kwt_make_tensor(keys != NULL ? keys : "");
    kwt_tensor *x = keys != NULL ? &tensor : NULL;
    int64_t number = 12;
    kw_status status = kwt_call_t_i(op, x, &number);
    cr_assert_eq(status, wanted, "%s: %s", kw_status_name(status), kw_call_error());
    cr_assert_eq(number, 12, "outputs are untouched");
    (void)snprintf(typed, sizeof typed, "%s", kw_call_error());
    cr_assert_lt(strlen(kw_call_error()), sizeof typed - 1);
    kw_value arg = kw_value_tensor(x);
    KWT_STATUS(wanted, kwt_call_frame(op, &arg, 1, &number));
    cr_assert_str_eq(kw_call_error(), typed, "a boxed call says the same");
    return typed;
}

// The five ways to find no kernel, each with a status and a text of its own.

Test(error, unknown_operator)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *op = (const kw_operator *)(const void *)&dispatcher;
    const kw_operator *before = op;
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_NOT_FOUND, kw_operator_find(dispatcher, "t::unheard_of", &op, &err));
    KWT_HAS(err.text, "`t::unheard_of`");
    cr_expect_eq(op, before, "outputs are untouched");
}

Test(error, removed_operator)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_end_library(library);
    KWT_HAS(refused(op, "CPU", KW_OPERATOR_REMOVED), "operator `t::f` has no definition");
}

Test(error, operator_without_any_kernel)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    (void)kwt_define(kwt_library(dispatcher, "a"), "t::f(Tensor x) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    const char *text = refused(op, "CPU, AutogradCPU", KW_NO_KERNEL);
    KWT_HAS(text, "`t::f`");
    KWT_HAS(text, "no kernel at all");
    KWT_HAS(text, "DispatchKeySet(CPU)"); // fallthroughs are out of it
    KWT_HAS(text, "register");
    (void)refused(op, NULL, KW_NO_KERNEL);
}

Test(error, kernel_for_another_backend)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "alpha");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CUDA, kwt_at(KWT_T_I(1), "alpha.c", 77));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    const char *text = refused(op, "CPU, AutogradCPU", KW_NO_KERNEL_FOR_KEY);
    KWT_HAS(text, "`t::f` has no kernel for CPU");
    KWT_HAS(text, "DispatchKeySet(CPU)");
    KWT_HAS(text, "CUDA (kwt_kernel_t_i in alpha at alpha.c:77)");
    KWT_HAS(text, "register one for CPU");
    KWT_LACKS(text, "standard"); // the standard fallthroughs are no help
}

Test(error, empty_key_set)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "alpha");
    (void)kwt_define(library, "t::f(Tensor? x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CUDA, kwt_at(KWT_T_I(1), "alpha.c", 77));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    const char *text = refused(op, NULL, KW_NO_TENSOR_ARGUMENTS);
    KWT_HAS(text, "`t::f`");
    KWT_HAS(text, "no tensors");
    KWT_HAS(text, "CUDA (kwt_kernel_t_i in alpha at alpha.c:77)");
    KWT_HAS(text, "CompositeExplicitAutograd");
}

Test(error, missing_autograd_kernel_suggests_a_fallback)
{
    kw_dispatcher *dispatcher = kwt_bare_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_fallback(library, KW_KEY_BackendSelect, KW_FALLTHROUGH());
    (void)kwt_fallback(library, KW_KEY_ADInplaceOrView, KW_FALLTHROUGH());
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    const char *text =
        refused(kwt_find(dispatcher, "t::f"), "CPU, AutogradCPU", KW_NO_KERNEL_FOR_KEY);
    KWT_HAS(text, "no kernel for AutogradCPU");
    KWT_HAS(text, "fallthrough fallback for AutogradCPU");
}

Test(error, fallbacks_count_as_kernels)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "alpha");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_fallback(library, KW_KEY_CUDA, kwt_at(KWT_BOXED(1), "fb.c", 3));
    const char *text = refused(kwt_find(dispatcher, "t::f"), "CPU", KW_NO_KERNEL_FOR_KEY);
    KWT_HAS(text, "CUDA (kwt_kernel_boxed in alpha at fb.c:3)");
}

Test(error, text_is_bounded_with_five_hundred_kernels)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "alpha");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    char file[80];
    memset(file, 'f', sizeof file - 1);
    file[sizeof file - 1] = '\0';
    int count = 0;
    for (int round = 0; count < 500; round++) {
        for (int slot = 1; slot < KW_SLOT_COUNT && count < 500; slot++) {
            kw_key key = kw_key_of_slot(slot);
            if (key != KW_KEY_CPU &&
                !kw_keyset_has(kwt_keyset("BackendSelect, ADInplaceOrView"), key)) {
                (void)kwt_impl(library, "t::f", key, kwt_at(KWT_T_I(1), file, 1));
                count++;
            }
        }
    }
    const char *text = refused(op, "CPU", KW_NO_KERNEL_FOR_KEY);
    KWT_HAS(text, "no kernel for CPU");
    KWT_HAS(text, " more"); // the rest is only counted
    KWT_HAS(text, "; in `t::f`");
    cr_expect_lt(strlen(text), 1600);
}

Test(error, longest_names_still_leave_a_terminated_text)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    char name[256];
    memset(name, 'n', sizeof name);
    memcpy(name, "t::", 3);
    name[255] = '\0';
    char schema[300];
    (void)snprintf(schema, sizeof schema, "%s(Tensor x) -> int", name);
    char *file = malloc(5001);
    memset(file, 'f', 5000);
    file[5000] = '\0';
    kw_library *library = kwt_library(dispatcher, file);
    (void)kwt_define(library, schema);
    for (int slot = 1; slot < 9; slot++) {
        (void)kwt_impl(library, name, kw_key_of_slot(slot + 1), kwt_at(KWT_T_I(1), file, 1));
    }
    const char *text = refused(kwt_find(dispatcher, name), "CPU", KW_NO_KERNEL_FOR_KEY);
    KWT_HAS(text, "...");
    cr_expect_lt(strlen(text), 1600);
    free(file);
}

Test(error, ambiguity_names_both_kernels_and_ends_with_one_of_them)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *alpha = kwt_library(dispatcher, "alpha");
    kw_library *beta = kwt_library(dispatcher, "beta");
    (void)kwt_define(alpha, "t::f(Tensor x) -> int");
    (void)kwt_impl(alpha, "t::f", KW_KEY_CompositeImplicitAutograd,
                   kwt_at(KWT_T_I(1), "alpha.c", 1));
    (void)kwt_impl(beta, "t::f", KW_KEY_SparseXLA, kwt_at(KWT_T_I(2), "beta.c", 2));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    const char *text = refused(op, "SparseXLA, AutogradOther", KW_AMBIGUOUS);
    KWT_HAS(text, "`t::f` is ambiguous at AutogradOther");
    KWT_HAS(text, "CompositeImplicitAutograd kernel kwt_kernel_t_i in alpha at alpha.c:1");
    KWT_HAS(text, "SparseXLA kernel kwt_kernel_t_i in beta at beta.c:2");
    kwt_tensor cpu = kwt_make_tensor("CPU, AutogradCPU");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1, "other backends are not concerned");
    kwt_end_library(beta);
    kwt_tensor sparse = kwt_make_tensor("SparseXLA, AutogradOther");
    cr_expect_eq(kwt_result_t_i(op, &sparse), 1);
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1);
}

Test(error, every_refusal_has_its_own_status_name)
{
    static const kw_status statuses[] = {
        KW_OPERATOR_REMOVED,    KW_OPERATOR_UNDEFINED, KW_NO_KERNEL,           KW_NO_KERNEL_FOR_KEY,
        KW_NO_TENSOR_ARGUMENTS, KW_AMBIGUOUS,          KW_FALLTHROUGH_REACHED, KW_NO_PROGRESS,
        KW_NESTED_TOO_DEEP,     KW_NOT_ATTACHED,       KW_SIGNATURE_MISMATCH,  KW_WRONG_VALUE};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        for (size_t j = 0; j < i; j++) {
            cr_expect_str_neq(kw_status_name(statuses[i]), kw_status_name(statuses[j]));
            cr_expect_str_neq(kw_status_message(statuses[i]), kw_status_message(statuses[j]));
        }
    }
    cr_expect_str_eq(kw_status_name(KW_NO_KERNEL), "KW_NO_KERNEL");
    cr_expect_str_eq(kw_status_name(-1), "KW_STATUS_UNKNOWN");
    cr_expect_gt(strlen(kw_status_message(123456)), 0);
}
