// Fallbacks: who may have one, aliases as a whole, stacks, and what they serve.
// SPDX-License-Identifier: MIT

#include "semantics_fixture.h"

TestSuite(semantics_fallback, .init = kwt_begin, .fini = kws_end);

// The registered kernel of a slot, by rule; for kwt's numbered kernels.
static int64_t serving(const kw_operator *op, const char *keys)
{
    kwt_tensor tensor = kwt_make_tensor(keys);
    return kwt_result_t_i(op, &tensor);
}

static kw_library *fallbacks(kw_dispatcher *dispatcher, uint32_t line)
{
    return kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "_", KW_KEY_Undefined, line);
}

static const kw_operator *make_operator(kw_dispatcher *dispatcher)
{
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "f(Tensor x) -> int");
    return kwt_find(dispatcher, "t::f");
}

// S34. PyTorch: test_multiple_fallback.
Test(semantics_fallback, second_one_of_a_key_is_refused_with_both_places)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *first = fallbacks(dispatcher, 1);
    kw_library *second = fallbacks(dispatcher, 2);
    kw_registration made = kwt_fallback(first, KW_KEY_CPU, kwt_at(KWT_BOXED(1), "old.c", 5));
    KWS_REFUSED(dispatcher,
                kwt_refuse_fallback(second, KW_KEY_CPU, kwt_at(KWT_BOXED(2), "new.c", 8),
                                    KW_DUPLICATE_FALLBACK),
                "CPU", "block_2 at new.c:8", "block_1", "old.c:5");
    KWS_REFUSED(dispatcher,
                kwt_refuse_fallback(first, KW_KEY_CPU, KW_FALLTHROUGH(), KW_DUPLICATE_FALLBACK),
                "CPU", "block_1");
    kwt_remove(first, made);
    (void)kwt_fallback(second, KW_KEY_CPU, KWT_BOXED(2));
}

// S34
Test(semantics_fallback, one_of_the_library_standard_is_covered_and_comes_back)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *op = make_operator(dispatcher);
    kw_library *library = fallbacks(dispatcher, 1);
    KWT_HAS(kwt_dump_table(op), "AutogradCPU: fallthrough in standard");
    kw_registration made = kwt_fallback(library, KW_KEY_AutogradCPU, KWT_BOXED(1));
    cr_expect_eq(serving(op, "AutogradCPU"), 1);
    kwt_remove(library, made);
    KWT_HAS(kwt_dump_table(op), "AutogradCPU: fallthrough in standard");
}

// S35
Test(semantics_fallback, alias_with_one_member_taken_is_refused_as_a_whole)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *op = make_operator(dispatcher);
    kw_library *first = fallbacks(dispatcher, 1);
    kw_library *second = fallbacks(dispatcher, 2);
    kw_registration made =
        kwt_fallback(first, KW_KEY_AutogradXLA, kwt_at(KWT_BOXED(1), "old.c", 5));
    KWS_REFUSED(dispatcher,
                kwt_refuse_fallback(second, KW_KEY_Autograd, kwt_at(KWT_BOXED(2), "new.c", 8),
                                    KW_DUPLICATE_FALLBACK),
                "AutogradXLA", "wanted for Autograd", "block_2 at new.c:8", "block_1", "old.c:5");
    kwt_remove(first, made);
    (void)kwt_fallback(second, KW_KEY_Autograd, KWT_BOXED(2));
    cr_expect_eq(serving(op, "AutogradXLA"), 2);
    cr_expect_eq(serving(op, "AutogradOther"), 2);
    cr_expect_eq(serving(op, "NestedTensorCPU, AutogradNestedTensor"), 2);
    // And the other way round: the alias holds each of its keys.
    KWS_REFUSED(dispatcher,
                kwt_refuse_fallback(first, KW_KEY_AutogradXLA, kwt_at(KWT_BOXED(3), "new.c", 9),
                                    KW_DUPLICATE_FALLBACK),
                "Autograd", "wanted for AutogradXLA", "new.c:9");
}

// S36. PyTorch lets the later one replace the earlier, without a way back.
Test(semantics_fallback, autograd_private_use_1_stacks_and_restores)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *op = make_operator(dispatcher);
    kw_library *a = fallbacks(dispatcher, 1);
    kw_library *b = fallbacks(dispatcher, 2);
    kw_registration first = kwt_fallback(a, KW_KEY_AutogradPrivateUse1, KWT_BOXED(1));
    kw_registration second = kwt_fallback(b, KW_KEY_AutogradPrivateUse1, KWT_BOXED(2));
    cr_expect_eq(serving(op, "AutogradPrivateUse1"), 2);
    kwt_remove(b, second);
    cr_expect_eq(serving(op, "AutogradPrivateUse1"), 1);
    second = kwt_fallback(b, KW_KEY_AutogradPrivateUse1, KWT_BOXED(2));
    kwt_remove(a, first);
    cr_expect_eq(serving(op, "AutogradPrivateUse1"), 2);
    kwt_remove(b, second);
    KWT_HAS(kwt_dump_table(op), "AutogradPrivateUse1: fallthrough in standard");
    // An alias over the same key stacks there, but only if its other keys are free.
    (void)kwt_fallback(a, KW_KEY_AutogradPrivateUse1, KWT_BOXED(1));
    second = kwt_fallback(b, KW_KEY_Autograd, KWT_BOXED(2));
    cr_expect_eq(serving(op, "AutogradPrivateUse1"), 2);
    kwt_remove(b, second);
    cr_expect_eq(serving(op, "AutogradPrivateUse1"), 1);
}

// S37
Test(semantics_fallback, kernel_must_serve_every_operator_and_the_key_have_slots)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = fallbacks(dispatcher, 1);
    KWS_REFUSED(dispatcher,
                kwt_refuse_fallback(library, KW_KEY_CPU, KWT_T_I(1), KW_INVALID_ARGUMENT), "boxed");
    KWS_REFUSED(dispatcher,
                kwt_refuse_fallback(library, KW_KEY_Dense, KWT_BOXED(1), KW_UNKNOWN_KEY), "Dense");
    KWS_REFUSED(
        dispatcher,
        kwt_refuse_fallback(library, KW_KEY_CatchAll, KWT_BOXED(1), KW_FALLBACK_WITHOUT_KEY),
        "key");
}

// S38
Test(semantics_fallback, serves_operators_from_before_and_after_and_none_that_is_gone)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *before = make_operator(dispatcher);
    kw_library *library = fallbacks(dispatcher, 1);
    kw_registration made = kwt_fallback(library, KW_KEY_CPU, KWT_BOXED(1));
    kw_library *later = kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "u", KW_KEY_Undefined, 2);
    (void)kwt_define(later, "f(Tensor x) -> int");
    const kw_operator *after = kwt_find(dispatcher, "u::f");
    cr_expect_eq(serving(before, "CPU"), 1);
    cr_expect_eq(serving(after, "CPU"), 1);
    kws_block_end(later);
    kwt_tensor cpu = kwt_make_tensor("CPU");
    int64_t number;
    KWT_STATUS(KW_OPERATOR_REMOVED, kwt_call_t_i(after, &cpu, &number));
    kwt_remove(library, made);
    KWT_STATUS(KW_NO_KERNEL, kwt_call_t_i(before, &cpu, &number));
}

// S49. PyTorch: a fallback loses to every kernel of the operator's own, aliases included.
Test(semantics_fallback, loses_to_every_kernel_of_the_operators_own)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *kernels = kwt_library_of(dispatcher, "t");
    kw_library *library = fallbacks(dispatcher, 1);
    (void)kwt_define(kernels, "f(Tensor x) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    (void)kwt_fallback(library, KW_KEY_CPU, KWT_BOXED(9));
    static const kw_key keys[] = {KW_KEY_CPU, KW_KEY_CompositeImplicitAutograd,
                                  KW_KEY_CompositeExplicitAutograd,
                                  KW_KEY_CompositeExplicitAutogradNonFunctional};
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(serving(op, "CPU"), 9);
        kw_registration made = kwt_impl(kernels, "f", keys[i], KWT_T_I(i));
        cr_expect_eq(serving(op, "CPU"), i, "%s", kw_key_name(keys[i]));
        kwt_remove(kernels, made);
    }
}
