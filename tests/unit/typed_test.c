// Typed calls without the inline forms: they do what the inline ones do.
// SPDX-License-Identifier: MIT

#include <keyway/typed.h>

#include "rcu/thread.h"
#include "support/registry.h"

TestSuite(typed, .init = kwt_begin, .fini = kwt_end);

static uint32_t own_depth(void)
{
    const kwi_thread_block *block = kwi_thread_current();
    return block != NULL ? kwi_u32_load_relaxed(&block->hot.depth) : 0;
}

static kw_status call_t_i(const kw_operator *op, void *x, int64_t *out_0)
{
    kw_typed_call call;
    kw_status status = kw_typed_call_begin(op, kwt_keys(x), &call);
    if (status != KW_OK) {
        return status;
    }
    status = ((kwt_function_t_i)call.function)(call.kernel, call.keys, x, out_0);
    return kw_typed_call_end(&call, status);
}

static kw_status redispatch_t_i(const kw_operator *op, kw_keyset keys, void *x, int64_t *out_0)
{
    kw_typed_call call;
    kw_status status = kw_typed_redispatch_begin(op, keys, &call);
    if (status != KW_OK) {
        return status;
    }
    status = ((kwt_function_t_i)call.function)(call.kernel, call.keys, x, out_0);
    return kw_typed_call_end(&call, status);
}

static uint32_t depth_in_layer;

static kw_status layer(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    depth_in_layer = own_depth();
    return redispatch_t_i(
        self->op, kw_keyset_intersection(keys, kw_keyset_full_after(KW_KEY_Tracer)), x, out_0);
}

static const kw_operator *make(kw_library **out_library)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    *out_library = kwt_library(dispatcher, "a");
    (void)kwt_define(*out_library, "t::f(Tensor x) -> int");
    (void)kwt_impl(*out_library, "t::f", KW_KEY_CPU, KWT_T_I(7));
    (void)kwt_impl(*out_library, "t::f", KW_KEY_Tracer, KW_UNBOXED("t>i", layer));
    return kwt_find(dispatcher, "t::f");
}

Test(typed, a_call_selects_by_keys_and_ends)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    kwt_tensor cpu = kwt_make_tensor("CPU");
    int64_t number = 0;
    KWT_OK(call_t_i(op, &cpu, &number));
    cr_assert_eq(number, 7);
    cr_assert_eq(own_depth(), 0);
}

Test(typed, a_redispatch_stays_in_its_call)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    kwt_tensor traced = kwt_make_tensor("CPU, Tracer");
    int64_t number = 0;
    KWT_OK(call_t_i(op, &traced, &number));
    cr_assert_eq(number, 7);
    cr_assert_eq(depth_in_layer, 1);
    cr_assert_eq(kwt_trace_count, 1);
    cr_assert_eq(kwt_trace[0].keys.bits & kwt_keyset("Tracer").bits, 0);
}

Test(typed, a_redispatch_outside_is_a_call_with_the_given_keys)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    kwt_tensor traced = kwt_make_tensor("CPU, Tracer");
    int64_t number = 0;
    KWT_OK(redispatch_t_i(op, kwt_keyset("CPU"), &traced, &number));
    cr_assert_eq(number, 7);
    cr_assert_eq(own_depth(), 0);
}

Test(typed, a_failure_names_the_operator)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    kwt_tensor cuda = kwt_make_tensor("CUDA");
    int64_t number = 0;
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, call_t_i(op, &cuda, &number));
    KWT_HAS(kw_call_error(), "t::f");
    cr_assert_eq(own_depth(), 0);
}

Test(typed, a_library_knows_its_dispatcher)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    cr_assert_eq(kw_library_dispatcher(kwt_library(dispatcher, "a")), dispatcher);
    cr_assert_null(kw_library_dispatcher(NULL));
}
