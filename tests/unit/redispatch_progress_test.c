// Progress: a boxed redispatch that would run the same kernel again is stopped, a legal one is not.
// SPDX-License-Identifier: MIT

#include "support/registry.h"

TestSuite(redispatch_progress, .init = kwt_begin, .fini = kwt_end);

static const kw_operator *make(kw_library **out_library)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    *out_library = kwt_library(dispatcher, "a");
    (void)kwt_define(*out_library, "t::f(Tensor x) -> int");
    (void)kwt_impl(*out_library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    return kwt_find(dispatcher, "t::f");
}

static int run_count;

static kw_status redispatch_same(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                 kw_frame *frame)
{
    (void)self;
    cr_assert_lt(++run_count, 100);
    return kw_redispatch_boxed(op, keys, frame);
}

static void expect_no_progress(const kw_operator *op, const char *keys)
{
    kwt_tensor tensor = kwt_make_tensor(keys);
    kw_value arg = kw_value_tensor(&tensor);
    int64_t number = 0;
    run_count = 0;
    KWT_STATUS(KW_NO_PROGRESS, kwt_call_t_i(op, &tensor, &number));
    KWT_HAS(kw_call_error(), "no progress at key Tracer");
    cr_expect_leq(run_count, 3);
    run_count = 0;
    KWT_STATUS(KW_NO_PROGRESS, kwt_call_frame(op, &arg, 1, &number));
    KWT_HAS(kw_call_error(), "`t::f`");
    cr_expect_leq(run_count, 3);
}

Test(redispatch_progress, handler_that_leaves_its_key_in_is_stopped)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer, KW_BOXED(redispatch_same));
    expect_no_progress(op, "CPU, Tracer");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1, "the next call is fine");
}

Test(redispatch_progress, handler_below_a_legal_one_is_stopped_too)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    kwt_layer layer = {9, KW_KEY_PythonTLSSnapshot};
    (void)kwt_impl(library, "t::f", KW_KEY_PythonTLSSnapshot,
                   kwt_with(KW_BOXED(kwt_layer_boxed), &layer, NULL));
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer, KW_BOXED(redispatch_same));
    expect_no_progress(op, "CPU, Tracer, PythonTLSSnapshot");
}

Test(redispatch_progress, fallback_that_leaves_its_key_in_is_stopped)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    (void)kwt_fallback(library, KW_KEY_Tracer, KW_BOXED(redispatch_same));
    expect_no_progress(op, "CPU, Tracer");
}

static kw_status redispatch_twice(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                  kw_frame *frame)
{
    (void)self;
    kw_keyset below = kw_keyset_remove(keys, KW_KEY_Tracer);
    kw_status status = kw_redispatch_boxed(op, below, frame);
    return status == KW_OK ? kw_redispatch_boxed(op, below, frame) : status;
}

Test(redispatch_progress, the_same_redispatch_one_after_the_other_is_legal)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer, KW_BOXED(redispatch_twice));
    kwt_tensor tensor = kwt_make_tensor("CPU, Tracer");
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(kwt_result_t_i(op, &tensor), 1);
    }
    cr_expect_eq(kwt_trace_count, 6);
}

// Calls the operator anew for its argument's tensor, with a smaller count, until it is 0.
static int64_t calls_left;
static kw_status call_again(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                            kw_frame *frame)
{
    (void)self;
    if (calls_left-- > 0) {
        kw_value result = kw_value_none();
        kw_frame inner = {.args = frame->args,
                          .returns = &result,
                          .arg_count = frame->arg_count,
                          .return_count = 1};
        kw_status status = kw_call_boxed(op, &inner);
        if (status != KW_OK) {
            return status;
        }
    }
    return kw_redispatch_boxed(op, kw_keyset_remove(keys, KW_KEY_Tracer), frame);
}

Test(redispatch_progress, recursion_by_calls_is_legal)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer, KW_BOXED(call_again));
    kwt_tensor tensor = kwt_make_tensor("CPU, Tracer");
    calls_left = 50;
    cr_expect_eq(kwt_result_t_i(op, &tensor), 1);
    cr_expect_eq(kwt_trace_count, 51);
}

static kw_status call_from_redispatched(const kw_kernel *self, kw_keyset keys, void *x,
                                        int64_t *out_0)
{
    kwt_trace_add(self, self->op, keys);
    if (kwt_trace_count < 10) {
        return kwt_call_t_i(self->op, x, out_0);
    }
    *out_0 = 5;
    return KW_OK;
}

Test(redispatch_progress, kernel_reached_by_redispatch_may_call_the_operator_again)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    kwt_layer layer = {9, KW_KEY_Tracer};
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer,
                   kwt_with(KW_BOXED(kwt_layer_boxed), &layer, NULL));
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KW_UNBOXED("t>i", call_from_redispatched));
    kwt_tensor tensor = kwt_make_tensor("CPU, Tracer");
    cr_expect_eq(kwt_result_t_i(op, &tensor), 5);
}

static kw_status swallow(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                         kw_frame *frame)
{
    (void)self;
    kw_keyset below = kw_keyset_remove(keys, KW_KEY_Tracer);
    if (kw_redispatch_boxed(op, kw_keyset_add(below, KW_KEY_FPGA), frame) == KW_OK) {
        return KW_INTERNAL;
    }
    return kw_redispatch_boxed(op, below, frame);
}

Test(redispatch_progress, failed_redispatch_leaves_nothing_behind)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer, KW_BOXED(swallow));
    kwt_tensor tensor = kwt_make_tensor("CPU, Tracer");
    cr_expect_eq(kwt_result_t_i(op, &tensor), 1);
    cr_expect_eq(kwt_result_t_i(op, &tensor), 1);
}

// Two handlers that hand the call to each other.
typedef struct ping {
    kw_key other;
} ping;

static kw_status hand_over(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    const ping *to = self->user_data;
    if (++run_count > 1000) {
        return KW_INTERNAL; // nobody stopped it
    }
    (void)keys;
    return kw_redispatch_boxed(op, kw_keyset_add(kwt_keyset("CPU"), to->other), frame);
}

Test(redispatch_progress, two_handlers_that_hand_on_to_each_other_are_stopped)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    ping to_tracer = {KW_KEY_Tracer};
    ping to_python = {KW_KEY_Python};
    (void)kwt_impl(library, "t::f", KW_KEY_Python, kwt_with(KW_BOXED(hand_over), &to_tracer, NULL));
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer, kwt_with(KW_BOXED(hand_over), &to_python, NULL));
    kwt_tensor tensor = kwt_make_tensor("CPU, Python");
    int64_t number = 0;
    run_count = 0;
    KWT_STATUS(KW_NO_PROGRESS, kwt_call_t_i(op, &tensor, &number));
    cr_expect_leq(run_count, 1000);
}
