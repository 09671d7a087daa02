// Kernels: which keys take one, and how its C signature must fit the operator's.
// SPDX-License-Identifier: MIT

#include "support/registry.h"

TestSuite(registry_impl, .init = kwt_begin, .fini = kwt_end);

Test(registry_impl, runtime_key_takes_a_kernel)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(3));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect(kw_operator_has_kernel(op, KW_KEY_CPU));
    cr_expect(kw_operator_has_computed_kernel(op, KW_KEY_CPU));
    cr_expect_not(kw_operator_has_kernel(op, KW_KEY_CUDA));
    cr_expect_not(kw_operator_has_computed_kernel(op, KW_KEY_CUDA));
}

Test(registry_impl, undefined_stands_for_composite_implicit)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_Undefined, KWT_T_I(3));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect(kw_operator_has_kernel(op, KW_KEY_CompositeImplicitAutograd));
    cr_expect(kw_operator_has_kernel(op, KW_KEY_Undefined), "asked by the same word");
    KWT_HAS(kwt_dump(op), "CompositeImplicitAutograd[alias]: ");
    kwt_tensor xla = kwt_make_tensor("XLA, AutogradXLA");
    cr_expect_eq(kwt_result_t_i(op, &xla), 3);
    cr_expect_eq(kwt_result_t_i(op, NULL), 3, "slot 0 too");
}

Test(registry_impl, alias_kernel_fills_its_slots_and_no_others)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_T_I(3));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect(kw_operator_has_computed_kernel(op, KW_KEY_CPU));
    cr_expect(kw_operator_has_computed_kernel(op, KW_KEY_SparseCUDA));
    cr_expect_not(kw_operator_has_kernel(op, KW_KEY_CPU), "not under exactly this key");
    cr_expect_not(kw_operator_has_computed_kernel(op, KW_KEY_CompositeExplicitAutograd),
                  "an alias has no slot");
    cr_expect_not(kw_operator_has_computed_kernel(op, KW_KEY_FuncTorchBatched));
}

Test(registry_impl, building_block_keeps_a_kernel_that_reaches_no_slot)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_Dense, KWT_T_I(3));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect(kw_operator_has_kernel(op, KW_KEY_Dense));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    int64_t number;
    KWT_STATUS(KW_NO_KERNEL, kwt_call_t_i(op, &cpu, &number));
}

Test(registry_impl, number_that_is_no_key_is_refused)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_refuse_impl(library, "t::f", KW_KEY_LIMIT, KWT_T_I(3), KW_UNKNOWN_KEY);
    (void)kwt_refuse_impl(library, "t::f", (kw_key)60000, KWT_T_I(3), KW_UNKNOWN_KEY);
}

Test(registry_impl, unboxed_kernel_may_come_before_the_definition)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(3));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    const kw_operator *typed = NULL;
    KWT_STATUS(KW_OPERATOR_UNDEFINED,
               kw_operator_find_typed(dispatcher, "t::f", "t>i", &typed, NULL));
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    KWT_OK(kw_operator_find_typed(dispatcher, "t::f", "t>i", &typed, NULL));
    cr_expect_eq(typed, op, "the same entry");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_expect_eq(kwt_result_t_i(typed, &cpu), 3);
}

Test(registry_impl, boxed_kernel_may_come_before_the_definition)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_BOXED(3));
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_BOXED(4));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_value arg = kw_value_tensor(&cpu);
    int64_t number = 0;
    KWT_OK(kwt_call_frame(op, &arg, 1, &number));
    cr_expect_eq(number, 4, "without a schema no argument is a tensor");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    KWT_OK(kwt_call_frame(op, &arg, 1, &number));
    cr_expect_eq(number, 3);
    cr_expect_eq(kwt_result_t_i(op, &cpu), 3, "typed callers reach it too");
}

Test(registry_impl, kernel_of_another_signature_is_refused_after_the_definition)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    const char *before = kwt_picture(dispatcher);
    const char *text =
        kwt_refuse_impl(library, "t::f", KW_KEY_CPU, KWT_I_I(3), KW_SIGNATURE_MISMATCH);
    KWT_HAS(text, "`t>i`");
    KWT_HAS(text, "`i>i`");
    (void)kwt_refuse_impl(library, "t::f", KW_KEY_CPU, KWT_TT_I(3), KW_SIGNATURE_MISMATCH);
    cr_expect_str_eq(kwt_picture(dispatcher), before);
}

Test(registry_impl, definition_of_another_signature_is_refused_after_the_kernel)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(3));
    const char *before = kwt_picture(dispatcher);
    (void)kwt_refuse_define(library, "t::f(int x) -> int", KW_SIGNATURE_MISMATCH);
    (void)kwt_refuse_define(library, "t::f(Tensor[]? x) -> int", KW_SIGNATURE_MISMATCH);
    cr_expect_str_eq(kwt_picture(dispatcher), before, "the kernel stays");
    (void)kwt_define(library, "t::f(Tensor? x) -> int"); // the same C form
}

Test(registry_impl, kernels_without_a_definition_must_agree)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(3));
    (void)kwt_refuse_impl(library, "t::f", KW_KEY_CUDA, KWT_I_I(3), KW_SIGNATURE_MISMATCH);
    (void)kwt_impl(library, "t::f", KW_KEY_CUDA, KWT_T_I(3));
    (void)kwt_impl(library, "t::f", KW_KEY_XLA, KWT_BOXED(3)); // fits every signature
}

Test(registry_impl, boxed_kernels_do_not_fix_the_signature)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_BOXED(3));
    (void)kwt_impl(library, "t::f", KW_KEY_CUDA, KWT_I_I(3));
    (void)kwt_refuse_define(library, "t::f(Tensor x) -> int", KW_SIGNATURE_MISMATCH);
    (void)kwt_define(library, "t::f(int x) -> int");
}

Test(registry_impl, failed_kernel_does_not_fix_the_signature)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_impl(library, "t::f", KW_KEY_CUDA, KWT_BOXED(1)); // signature not known yet
    for (int i = 0; i < 2; i++) {
        const char *name = i == 0 ? "t::f" : "t::g"; // a known entry, then an unknown one
        const kw_kernel_descriptor kernel = KWT_T_I(3);
        kw_transaction *tx = kwt_transaction(dispatcher);
        KWT_OK(kw_transaction_impl(tx, library, name, KW_KEY_CPU, &kernel, NULL, NULL));
        KWT_OK(kw_transaction_remove(tx, library, 0, NULL));
        KWT_STATUS(KW_NOT_FOUND, kw_transaction_commit(tx, NULL, NULL, NULL));
        (void)kwt_impl(library, name, KW_KEY_CPU, KWT_I_I(3));
    }
}

Test(registry_impl, malformed_signature_code_is_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    static const char *const malformed[] = {"t", "t>T", "q>i", "t>i>", "?t>i", "t> i"};
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        kw_kernel_descriptor kernel = KWT_T_I(1);
        kernel.signature = malformed[i];
        (void)kwt_refuse_impl(library, "t::f", KW_KEY_CPU, kernel, KW_INVALID_ARGUMENT);
    }
    cr_expect_not(kwt_is_visible(dispatcher, "t::f"));
}

Test(registry_impl, incomplete_descriptors_are_refused)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_impl(library, "t::f", KW_KEY_CPU, NULL, NULL, NULL));
    kw_kernel_descriptor kernel = KWT_T_I(1);
    kernel.struct_size = 8;
    (void)kwt_refuse_impl(library, "t::f", KW_KEY_CPU, kernel, KW_INVALID_ARGUMENT);
    kernel = KWT_T_I(1);
    kernel.unboxed = NULL;
    KWT_HAS(kwt_refuse_impl(library, "t::f", KW_KEY_CPU, kernel, KW_INVALID_ARGUMENT),
            "kwt_kernel_t_i");
    kernel = KWT_T_I(1);
    kernel.signature = NULL;
    (void)kwt_refuse_impl(library, "t::f", KW_KEY_CPU, kernel, KW_INVALID_ARGUMENT);
    kernel = KWT_BOXED(1);
    kernel.boxed = NULL;
    (void)kwt_refuse_impl(library, "t::f", KW_KEY_CPU, kernel, KW_INVALID_ARGUMENT);
    kernel.kind = 9;
    (void)kwt_refuse_impl(library, "t::f", KW_KEY_CPU, kernel, KW_INVALID_ARGUMENT);
}

Test(registry_impl, names_are_checked)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    kw_library *of_t = kwt_library_of(kwt_dispatcher(), "t");
    (void)kwt_refuse_impl(library, "f", KW_KEY_CPU, KWT_T_I(1), KW_MALFORMED_NAME);
    (void)kwt_refuse_impl(library, "t::f(Tensor x) -> int", KW_KEY_CPU, KWT_T_I(1),
                          KW_NAME_EXPECTED);
    (void)kwt_refuse_impl(library, "t::", KW_KEY_CPU, KWT_T_I(1), KW_MALFORMED_NAME);
    (void)kwt_refuse_impl(library, NULL, KW_KEY_CPU, KWT_T_I(1), KW_INVALID_ARGUMENT);
    (void)kwt_refuse_impl(of_t, "u::f", KW_KEY_CPU, KWT_T_I(1), KW_NAMESPACE_MISMATCH);
    (void)kwt_impl(of_t, "f", KW_KEY_CPU, KWT_T_I(1));
    char name[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memcpy(name, "t::", 3);
    (void)kwt_refuse_impl(library, name, KW_KEY_CPU, KWT_T_I(1), KW_MALFORMED_NAME);
    (void)kwt_refuse_impl(of_t, name + 3, KW_KEY_CPU, KWT_T_I(1), KW_MALFORMED_NAME);
}

Test(registry_impl, text_of_the_descriptor_is_copied)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    char file[] = "kernels.c";
    char code[] = "t>i";
    kw_kernel_descriptor kernel = kwt_at(KWT_T_I(1), file, 5);
    kernel.signature = code;
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, kernel);
    memset(file, '?', sizeof file - 1);
    memset(code, '?', sizeof code - 1);
    KWT_HAS(kwt_dump(kwt_find(dispatcher, "t::f")), "CPU: kwt_kernel_t_i in a at kernels.c:5");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
}
