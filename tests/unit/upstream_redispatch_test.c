// What PyTorch's tests of modes, wrappers and chains of handlers assert, by content.
// SPDX-License-Identifier: MIT

#include <keyway/local.h>

#include "semantics_fixture.h"

TestSuite(upstream_redispatch, .init = kwt_begin, .fini = kws_end);

static kw_dispatcher *dispatcher;
static kw_library *library;
static kw_library *fallbacks;

static void set_up(void)
{
    kwt_begin();
    dispatcher = kwt_dispatcher();
    library = kwt_library_of(dispatcher, "t");
    fallbacks = kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "_", KW_KEY_Undefined, 1);
    (void)kwt_define(library, "add(Tensor x) -> int");
    (void)kwt_define(library, "mul(Tensor x) -> int");
    (void)kwt_impl(library, "add", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "mul", KW_KEY_CPU, KWT_T_I(2));
}

TestSuite(upstream_mode, .init = set_up, .fini = kws_end);

static int mode_count;

// Counts a call, keeps itself out of what it calls, and calls the operator again.
static kw_status count_mode(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                            kw_frame *frame)
{
    (void)self;
    (void)keys;
    mode_count++;
    kw_local_guard guard;
    KWT_OK(kw_local_exclude(kwt_keyset("TESTING_ONLY_GenericMode"), &guard));
    kw_status status = kw_call_boxed(op, frame);
    kw_local_restore(&guard);
    return status;
}

// PyTorch: TestBackendFallbackWithMode.
Test(upstream_mode, mode_sees_each_outer_call_once)
{
    (void)kwt_fallback(fallbacks, KW_KEY_TESTING_ONLY_GenericMode, KW_BOXED(count_mode));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_local_guard guard;
    KWT_OK(kw_local_include(kwt_keyset("TESTING_ONLY_GenericMode"), &guard));
    cr_expect_eq(kwt_result_t_i(kwt_find(dispatcher, "t::mul"), &cpu), 2);
    cr_expect_eq(kwt_result_t_i(kwt_find(dispatcher, "t::add"), &cpu), 1);
    kw_local_restore(&guard);
    cr_expect_eq(mode_count, 2);
    cr_expect_eq(kwt_result_t_i(kwt_find(dispatcher, "t::add"), &cpu), 1);
    cr_expect_eq(mode_count, 2, "not outside the mode");
}

// PyTorch: TestFallthroughBackendFallback.
Test(upstream_mode, fallthrough_mode_leaves_all_but_overridden_operators_alone)
{
    (void)kwt_fallback(fallbacks, KW_KEY_TESTING_ONLY_GenericMode, KW_FALLTHROUGH());
    (void)kwt_impl(library, "mul", KW_KEY_TESTING_ONLY_GenericMode, KW_BOXED(count_mode));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_local_guard guard;
    KWT_OK(kw_local_include(kwt_keyset("TESTING_ONLY_GenericMode"), &guard));
    cr_expect_eq(kwt_result_t_i(kwt_find(dispatcher, "t::mul"), &cpu), 2);
    cr_expect_eq(mode_count, 1);
    cr_expect_eq(kwt_result_t_i(kwt_find(dispatcher, "t::add"), &cpu), 1);
    cr_expect_eq(mode_count, 1);
    kw_local_restore(&guard);
}

// A tensor around another.
typedef struct wrapper {
    kwt_tensor outer;
    kwt_tensor *inner;
} wrapper;

static int wrapper_count;
static wrapper result_wrapper;

// Takes the wrappers off the arguments, calls, and puts one around the return.
static kw_status unwrap(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                        kw_frame *frame)
{
    (void)self;
    (void)keys;
    wrapper_count++;
    kw_value args[2] = {frame->args[0], frame->args[1]};
    for (uint32_t i = 0; i < frame->arg_count; i++) {
        kwt_tensor *tensor = args[i].as.as_tensor;
        if (kw_keyset_has(tensor->keys, KW_KEY_TESTING_ONLY_GenericWrapper)) {
            args[i] = kw_value_tensor(((wrapper *)(void *)tensor)->inner);
        }
    }
    kw_frame inner = {args, frame->returns, frame->arg_count, frame->return_count};
    kw_status status = kw_call_boxed(op, &inner);
    if (status == KW_OK) {
        result_wrapper.outer = kwt_make_tensor("TESTING_ONLY_GenericWrapper");
        result_wrapper.inner = frame->returns[0].as.as_tensor;
        frame->returns[0] = kw_value_tensor(&result_wrapper.outer);
    }
    return status;
}

// PyTorch: TestBackendFallbackWithWrapper.
Test(upstream_mode, wrapper_is_taken_off_and_put_on_again)
{
    (void)kwt_fallback(fallbacks, KW_KEY_TESTING_ONLY_GenericWrapper, KW_BOXED(unwrap));
    (void)kwt_define(library, "first(Tensor x, Tensor y) -> Tensor");
    (void)kwt_impl(library, "first", KW_KEY_CPU, KW_UNBOXED("tt>t", kwt_kernel_tt_t));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kwt_tensor plain = kwt_make_tensor("CPU");
    wrapper wrapped = {kwt_make_tensor("TESTING_ONLY_GenericWrapper"), &cpu};
    void *result = NULL;
    KWT_OK(kwt_call_tt_t(kwt_find(dispatcher, "t::first"), &wrapped.outer, &plain, &result));
    cr_expect_eq(wrapper_count, 1);
    cr_expect_eq(result, &result_wrapper.outer);
    cr_expect_eq(result_wrapper.inner, &cpu);
}

// Chains ------------------------------------------------------------------------------------------

static const kw_operator *chain_op;

// A typed handler that hands on below the key in its user data.
static kw_status hand_on(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    const kwt_layer *layer = self->user_data;
    kwt_trace[kwt_trace_count++] = (kwt_step){layer->number, keys, self->op};
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_full_after(layer->key));
    return kwt_redispatch_t_i(chain_op, below, x, out_0);
}

// PyTorch: callKernelsWithDispatchKeySetConvention_call, _callBoxed, _mixedCallingConventions.
// S4 S66
Test(upstream_redispatch, handlers_hand_on_below_their_keys_in_every_mixture_of_forms)
{
    dispatcher = kwt_dispatcher();
    kwt_layer layers[] = {{1, KW_KEY_Tracer}, {2, KW_KEY_AutogradOther}};
    static const kw_key keys[] = {KW_KEY_Tracer, KW_KEY_AutogradCPU};
    for (unsigned mixture = 0; mixture < 8; mixture++) {
        library = kwt_library_of(dispatcher, "t");
        (void)kwt_define(library, "f(Tensor x) -> int");
        for (unsigned i = 0; i < 2; i++) {
            kw_kernel_descriptor kernel =
                mixture >> i & 1 ? KW_BOXED(kwt_layer_boxed) : KW_UNBOXED("t>i", hand_on);
            (void)kwt_impl(library, "f", keys[i], kwt_with(kernel, &layers[i], NULL));
        }
        (void)kwt_impl(library, "f", KW_KEY_CPU, mixture & 4 ? KWT_BOXED(3) : KWT_T_I(3));
        chain_op = kwt_find(dispatcher, "t::f");
        kwt_tensor tensor = kwt_make_tensor("Tracer, AutogradCPU, CPU");
        kw_value arg = kw_value_tensor(&tensor);
        int64_t number = 0;
        for (int boxed = 0; boxed < 2; boxed++) {
            kwt_trace_clear();
            KWT_OK(boxed != 0 ? kwt_call_frame(chain_op, &arg, 1, &number)
                              : kwt_call_t_i(chain_op, &tensor, &number));
            cr_expect_eq(number, 3);
            cr_assert_eq(kwt_trace_count, 3, "mixture %u", mixture);
            cr_expect_eq(kwt_trace[0].keys.bits, kwt_keyset("Tracer, AutogradCPU, CPU").bits);
            cr_expect_eq(kwt_trace[1].keys.bits, kwt_keyset("AutogradCPU, CPU").bits);
            cr_expect_eq(kwt_trace[2].keys.bits, kwt_keyset("CPU").bits);
        }
        kwt_end_library(library);
    }
}

// PyTorch: kernel_stackbased_test, callKernelsRedispatchesToLowerPriorityKernels. S66
Test(upstream_redispatch, boxed_redispatch_reaches_the_lower_kernel)
{
    dispatcher = kwt_dispatcher();
    library = kwt_library_of(dispatcher, "t");
    kwt_layer layer = {1, KW_KEY_TESTING_ONLY_GenericMode};
    (void)kwt_define(library, "f(Tensor x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_TESTING_ONLY_GenericMode,
                   kwt_with(KW_BOXED(kwt_layer_boxed), &layer, NULL));
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_T_I(5));
    kwt_tensor tensor = kwt_make_tensor("CPU, TESTING_ONLY_GenericMode");
    cr_expect_eq(kwt_result_t_i(kwt_find(dispatcher, "t::f"), &tensor), 5);
    cr_expect_eq(kwt_trace_count, 2);
}

// PyTorch: extension_backend_test. An out-of-tree backend without tensors to go by: BackendSelect
// chooses it, and its kernels are reached by its tensors. S9 S10
Test(upstream_redispatch, backend_from_outside_registers_and_is_reached)
{
    kw_backend backend = KW_BACKEND_INVALID;
    KWT_OK(kw_backend_claim("npu", &backend, NULL));
    kw_key key = kw_key_of(KW_KEY_Dense, backend);
    dispatcher = kwt_dispatcher();
    library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "empty(int size) -> int");
    (void)kwt_define(library, "add(Tensor x, Tensor y) -> int");
    (void)kwt_impl(library, "empty", key, KWT_I_I(10));
    (void)kwt_impl(library, "add", key, KWT_TT_I(20));
    const kw_operator *empty = kwt_find(dispatcher, "t::empty");
    int64_t number = 0;
    KWT_OK(kwt_redispatch_i_i(empty, kw_keyset_from_key(key), 1, &number));
    cr_expect_eq(number, 11);
    kwt_tensor tensor = kws_tensor(key, true);
    KWT_OK(kwt_call_tt_i(kwt_find(dispatcher, "t::add"), &tensor, &tensor, &number));
    cr_expect_eq(number, 20);
}
