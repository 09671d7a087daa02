// Exact calls: the kernel of one key, and the kernel that a handle names.
// SPDX-License-Identifier: MIT

#include "semantics_fixture.h"

TestSuite(exact, .init = kwt_begin, .fini = kws_end);

typedef struct scene {
    kw_dispatcher *dispatcher;
    kw_library *library;
    kw_library *fallbacks;
    const kw_operator *op;
    kwt_tensor tensor;
} scene;

static scene make(void)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    scene made = {
        .dispatcher = dispatcher,
        .library = kwt_library_of(dispatcher, "t"),
        .fallbacks = kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "_", KW_KEY_Undefined, 1),
        .tensor = kwt_make_tensor("CPU, AutogradCPU, Tracer"),
    };
    (void)kwt_define(made.library, "f(Tensor x) -> int");
    made.op = kwt_find(dispatcher, "t::f");
    return made;
}

static kw_status call_for_key(scene *in, kw_key key, int64_t *out_number)
{
    kw_value arg = kw_value_tensor(&in->tensor);
    kw_value result = kw_value_none();
    kw_frame frame = {&arg, &result, 1, 1};
    kw_status status = kw_call_boxed_for_key(in->op, key, &frame);
    *out_number = status == KW_OK ? result.as.as_int : -1;
    cr_expect_eq(result.tag, status == KW_OK ? KW_TAG_INT : KW_TAG_NONE);
    return status;
}

static int64_t result_for_key(scene *in, kw_key key)
{
    int64_t number;
    kw_status status = call_for_key(in, key, &number);
    cr_assert_eq(status, KW_OK, "%s", kw_call_error());
    return number;
}

// S63
Test(exact, direct_kernel_of_the_key_runs_with_the_keys_of_a_call)
{
    scene in = make();
    (void)kwt_impl(in.library, "f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(in.library, "f", KW_KEY_CUDA, KWT_T_I(2));
    (void)kwt_impl(in.library, "f", KW_KEY_Tracer, KWT_T_I(3));
    cr_expect_eq(result_for_key(&in, KW_KEY_CUDA), 2, "whatever the tensors are");
    cr_expect_eq(kwt_trace[0].keys.bits, kwt_keyset("CPU, Tracer").bits,
                 "the keys are those that a call would have: 0x%llx",
                 (unsigned long long)kwt_trace[0].keys.bits);
    cr_expect_eq(result_for_key(&in, KW_KEY_CPU), 1, "a higher key in the set does not matter");
    (void)kwt_impl(in.library, "f", KW_KEY_CPU, KWT_T_I(4));
    cr_expect_eq(result_for_key(&in, KW_KEY_CPU), 4, "the newest of the key");
}

// S63
Test(exact, fallback_serves_under_an_alias_kernel)
{
    scene in = make();
    in.tensor = kwt_make_tensor("CPU, AutogradCPU");
    (void)kwt_impl(in.library, "f", KW_KEY_CompositeExplicitAutograd, KWT_T_I(1));
    int64_t number;
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, call_for_key(&in, KW_KEY_CPU, &number));
    (void)kwt_fallback(in.fallbacks, KW_KEY_CPU, KWT_BOXED(2));
    cr_expect_eq(kwt_result_t_i(in.op, &in.tensor), 1, "a call takes the alias kernel");
    cr_expect_eq(result_for_key(&in, KW_KEY_CPU), 2, "no alias serves an exact call");
    cr_expect_eq(kwt_trace[kwt_trace_count - 1].op, in.op, "the fallback learns the operator");
    (void)kwt_impl(in.library, "f", KW_KEY_CPU, KWT_T_I(3));
    cr_expect_eq(result_for_key(&in, KW_KEY_CPU), 3);
}

// S63
Test(exact, key_without_a_kernel_or_a_slot_is_refused)
{
    scene in = make();
    (void)kwt_impl(in.library, "f", KW_KEY_Autograd, KWT_T_I(1));
    int64_t number;
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, call_for_key(&in, KW_KEY_CPU, &number));
    kws_expect_pieces(kw_call_error(), (const char *[]){"`t::f`", "CPU", "no fallback", NULL});
    KWT_STATUS(KW_ALIAS_KEY, call_for_key(&in, KW_KEY_Autograd, &number));
    kws_expect_pieces(kw_call_error(), (const char *[]){"Autograd", "no slot", NULL});
    KWT_STATUS(KW_ALIAS_KEY, call_for_key(&in, KW_KEY_Dense, &number));
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, call_for_key(&in, KW_KEY_Undefined, &number));
    KWT_STATUS(KW_FALLTHROUGH_REACHED, call_for_key(&in, KW_KEY_AutocastCPU, &number));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_call_boxed_for_key(in.op, KW_KEY_CPU, NULL));
    kw_frame frame = {NULL, NULL, 0, 0};
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_call_boxed_for_key(NULL, KW_KEY_CPU, &frame));
}

// S63 S65
Test(exact, removed_operator_is_not_served_by_a_fallback)
{
    scene in = make();
    (void)kwt_fallback(in.fallbacks, KW_KEY_CPU, KWT_BOXED(2));
    cr_expect_eq(result_for_key(&in, KW_KEY_CPU), 2);
    kwt_close(in.library);
    int64_t number;
    KWT_STATUS(KW_OPERATOR_REMOVED, call_for_key(&in, KW_KEY_CPU, &number));
    kws_expect_pieces(kw_call_error(), (const char *[]){"`t::f`", NULL});
}

// S63
Test(exact, frame_that_does_not_fit_is_refused)
{
    scene in = make();
    (void)kwt_impl(in.library, "f", KW_KEY_CPU, KWT_BOXED(1));
    kw_value args[2] = {kw_value_tensor(&in.tensor), kw_value_none()};
    kw_value result;
    kw_frame frame = {args, &result, 2, 1};
    KWT_STATUS(KW_WRONG_VALUE, kw_call_boxed_for_key(in.op, KW_KEY_CPU, &frame));
    kw_kernel_handle handle;
    KWT_OK(kw_operator_computed_kernel(in.op, KW_KEY_CPU, &handle, NULL));
    KWT_STATUS(KW_WRONG_VALUE, kw_kernel_call_boxed(&handle, kwt_keyset("CPU"), &frame));
    cr_expect_eq(kwt_trace_count, 0);
}

// S63. A handler that an exact call runs redispatches in the operator's table.
Test(exact, kernel_may_redispatch)
{
    scene in = make();
    kwt_layer tracer = {7, KW_KEY_Tracer};
    (void)kwt_impl(in.library, "f", KW_KEY_Tracer,
                   kwt_with(KW_BOXED(kwt_layer_boxed), &tracer, NULL));
    (void)kwt_impl(in.library, "f", KW_KEY_CPU, KWT_T_I(1));
    cr_expect_eq(result_for_key(&in, KW_KEY_Tracer), 1);
    cr_expect_eq(kwt_trace_count, 2);
    cr_expect_eq(kwt_trace[0].number, 7);
}

// Handles -----------------------------------------------------------------------------------------

static kw_kernel_handle take(scene *in, kw_key key)
{
    kw_error err = KW_ERROR_INIT;
    kw_kernel_handle handle = {.op = NULL};
    kw_status status = kw_operator_computed_kernel(in->op, key, &handle, &err);
    cr_assert_eq(status, KW_OK, "%s", err.text);
    return handle;
}

static kw_status call_handle(scene *in, const kw_kernel_handle *handle, int64_t *out_number)
{
    kw_value arg = kw_value_tensor(&in->tensor);
    kw_value result = kw_value_none();
    kw_frame frame = {&arg, &result, 1, 1};
    kw_status status = kw_kernel_call_boxed(handle, kwt_keyset("CUDA"), &frame);
    *out_number = status == KW_OK ? result.as.as_int : -1;
    return status;
}

// S64. PyTorch: getComputedKernelForDispatchKey and SafeKernelFunction.
Test(exact, handle_names_the_kernel_of_a_slot_by_whatever_rule)
{
    scene in = make();
    (void)kwt_impl(in.library, "f", KW_KEY_CompositeExplicitAutograd, KWT_T_I(1));
    (void)kwt_fallback(in.fallbacks, KW_KEY_Tracer, KWT_BOXED(2));
    kw_kernel_handle explicit = take(&in, KW_KEY_CPU);
    kw_kernel_handle fallback = take(&in, KW_KEY_Tracer);
    int64_t number;
    KWT_OK(call_handle(&in, &explicit, &number));
    cr_expect_eq(number, 1);
    cr_expect_eq(kwt_trace[0].keys.bits, kwt_keyset("CUDA").bits, "the keys are the caller's");
    KWT_OK(call_handle(&in, &fallback, &number));
    cr_expect_eq(number, 2);
    kw_error err = KW_ERROR_INIT;
    kw_kernel_handle none = {.registration = 7};
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, kw_operator_computed_kernel(in.op, KW_KEY_Named, &none, &err));
    kws_expect_pieces(err.text, (const char *[]){"`t::f`", "Named", NULL});
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_operator_computed_kernel(NULL, KW_KEY_CPU, &none, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_operator_computed_kernel(in.op, KW_KEY_CPU, NULL, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_kernel_call_boxed(NULL, kwt_keyset("CPU"), NULL));
}

// S64
Test(exact, handle_of_a_removed_kernel_is_gone_for_ever)
{
    scene in = make();
    kw_registration made = kwt_impl(in.library, "f", KW_KEY_CPU, KWT_T_I(1));
    kw_kernel_handle handle = take(&in, KW_KEY_CPU);
    kwt_remove(in.library, made);
    int64_t number;
    KWT_STATUS(KW_KERNEL_GONE, call_handle(&in, &handle, &number));
    kws_expect_pieces(kw_call_error(), (const char *[]){"`t::f`", "handle", NULL});
    // The same function with the same data, at the same key: another kernel all the same.
    (void)kwt_impl(in.library, "f", KW_KEY_CPU, KWT_T_I(1));
    KWT_STATUS(KW_KERNEL_GONE, call_handle(&in, &handle, &number));
    kw_kernel_handle fresh = take(&in, KW_KEY_CPU);
    KWT_OK(call_handle(&in, &fresh, &number));
    kwt_close(in.library);
    KWT_STATUS(KW_KERNEL_GONE, call_handle(&in, &fresh, &number));
}

// S64
Test(exact, handle_of_a_covered_kernel_is_gone_until_it_serves_again)
{
    scene in = make();
    (void)kwt_impl(in.library, "f", KW_KEY_CPU, KWT_T_I(1));
    kw_kernel_handle handle = take(&in, KW_KEY_CPU);
    kw_registration above = kwt_impl(in.library, "f", KW_KEY_CPU, KWT_T_I(2));
    int64_t number;
    KWT_STATUS(KW_KERNEL_GONE, call_handle(&in, &handle, &number));
    kwt_remove(in.library, above);
    KWT_OK(call_handle(&in, &handle, &number));
    cr_expect_eq(number, 1);
    // Covered at one slot of several, it still serves.
    (void)kwt_impl(in.library, "f", KW_KEY_CompositeExplicitAutograd, KWT_T_I(3));
    kw_kernel_handle explicit = take(&in, KW_KEY_CUDA);
    (void)kwt_impl(in.library, "f", KW_KEY_CUDA, KWT_T_I(4));
    KWT_OK(call_handle(&in, &explicit, &number));
    cr_expect_eq(number, 3);
}
