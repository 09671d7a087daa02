// The operators of call.ops, their kernels and their registration.
//
// Layer:   bench
// Threads: set up by one; calls from any.
// SPDX-License-Identifier: MIT

#include "subject.h"

#include <stdio.h>

#include "harness.h"
#include "small.h"

bench_tensor bench_left;
bench_tensor bench_right;
bench_subject bench_op;
uint64_t bench_loop_count;

// Kernels -----------------------------------------------------------------------------------------

static kw_status add_none(const kw_kernel *self, kw_keyset keys, int64_t c, int64_t *out_0)
{
    (void)self;
    (void)keys;
    *out_0 = c + 1;
    return KW_OK;
}

static kw_status add_one(const kw_kernel *self, kw_keyset keys, bench_tensor *a, int64_t c,
                         int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)a;
    *out_0 = c + 1;
    return KW_OK;
}

__attribute__((noinline)) kw_status bench_add_two(const kw_kernel *self, kw_keyset keys,
                                                  bench_tensor *a, bench_tensor *b, int64_t c,
                                                  int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)a;
    (void)b;
    *out_0 = c + 1;
    return KW_OK;
}

// NOLINTNEXTLINE(readability-function-size): a kernel has the parameters of its operator
static kw_status add_three(const kw_kernel *self, kw_keyset keys, bench_tensor *a, bench_tensor *b,
                           bench_tensor *d, int64_t c, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)a;
    (void)b;
    (void)d;
    *out_0 = c + 1;
    return KW_OK;
}

static kw_status add_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    frame->returns[0] = kw_value_int(frame->args[2].as.as_int + 1);
    return KW_OK;
}

// A kernel that is a layer: takes its own key and all above it away and goes on.
#define LAYER(name, id, key)                                                                       \
    static kw_status name(const kw_kernel *self, kw_keyset keys, bench_tensor *a, bench_tensor *b, \
                          int64_t c, int64_t *out_0)                                               \
    {                                                                                              \
        kw_keyset below = kw_keyset_intersection(keys, kw_keyset_full_after(key));                 \
        return bench_##id##_redispatch_on(self->op, below, a, b, c, out_0);                        \
    }

LAYER(autograd_2, levels_2, KW_KEY_AutogradCPU)
LAYER(autograd_4, levels_4, KW_KEY_AutogradCPU)
LAYER(view_4, levels_4, KW_KEY_ADInplaceOrView)
LAYER(select_4, levels_4, KW_KEY_BackendSelect)

// Many redispatches inside one call, so that one of them can be measured.
static kw_status loop_autograd(const kw_kernel *self, kw_keyset keys, bench_tensor *a,
                               bench_tensor *b, int64_t c, int64_t *out_0)
{
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_full_after(KW_KEY_BackendSelect));
    kw_status failures = KW_OK;
    *out_0 = c;
    for (uint64_t i = bench_loop_count; i > 0; i--) {
        failures |= bench_looped_redispatch_on(self->op, below, a, b, *out_0, out_0);
    }
    return failures;
}

// Registration ------------------------------------------------------------------------------------

static kw_status stage(kw_transaction *tx, kw_library *library)
{
    const kw_kernel_descriptor boxed = KW_BOXED(add_boxed);
    const kw_kernel_descriptor fallthrough = KW_FALLTHROUGH();
    kw_status status = call_define(tx, library, NULL);
    status |= bench_none_impl(tx, library, KW_KEY_CompositeImplicitAutograd, add_none);
    status |= bench_one_impl(tx, library, KW_KEY_CPU, add_one);
    status |= bench_two_impl(tx, library, KW_KEY_CPU, bench_add_two);
    status |= bench_three_impl(tx, library, KW_KEY_CPU, add_three);
    status |= bench_fallen_impl(tx, library, KW_KEY_CPU, bench_add_two);
    status |= kw_transaction_impl(tx, library, BENCH_FALLEN_NAME, KW_KEY_AutogradCPU, &fallthrough,
                                  NULL, NULL);
    status |= bench_levels_2_impl(tx, library, KW_KEY_CPU, bench_add_two);
    status |= bench_levels_2_impl(tx, library, KW_KEY_AutogradCPU, autograd_2);
    status |= bench_levels_4_impl(tx, library, KW_KEY_CPU, bench_add_two);
    status |= bench_levels_4_impl(tx, library, KW_KEY_AutogradCPU, autograd_4);
    status |= bench_levels_4_impl(tx, library, KW_KEY_ADInplaceOrView, view_4);
    status |= bench_levels_4_impl(tx, library, KW_KEY_BackendSelect, select_4);
    status |= bench_looped_impl(tx, library, KW_KEY_CPU, bench_add_two);
    status |= bench_looped_impl(tx, library, KW_KEY_AutogradCPU, loop_autograd);
    status |= bench_looped_small_impl(tx, library, KW_KEY_CPU, bench_add_two);
    status |= bench_looped_small_impl(tx, library, KW_KEY_AutogradCPU, bench_small_autograd);
    status |= kw_transaction_impl(tx, library, BENCH_BOXED_NAME, KW_KEY_CPU, &boxed, NULL, NULL);
    return status;
}

bool bench_subject_set_up(void)
{
    const kw_library_options options = {
        .struct_size = sizeof options, .ns = "bench", .tensor_type = &bench_tensor_type};
    kw_error err = KW_ERROR_INIT;
    kw_library *library = NULL;
    kw_transaction *tx = NULL;
    bench_require(kw_library_create(&options, &library, &err), &err);
    bench_require(kw_transaction_begin(kw_dispatcher_default(), &tx, &err), &err);
    kw_status staged = stage(tx, library);
    bench_require(staged, kw_transaction_error(tx));
    bench_require(kw_transaction_commit(tx, NULL, NULL, &err), &err);
    bench_op = (bench_subject){.none = bench_none_handle(),
                               .one = bench_one_handle(),
                               .two = bench_two_handle(),
                               .three = bench_three_handle(),
                               .fallen = bench_fallen_handle(),
                               .levels_2 = bench_levels_2_handle(),
                               .levels_4 = bench_levels_4_handle(),
                               .looped = bench_looped_handle(),
                               .looped_small = bench_looped_small_handle(),
                               .boxed = bench_boxed_handle()};
    bench_left.keys = bench_dense_keys();
    bench_right.keys = bench_left.keys;
    int64_t out = 0;
    bench_require(bench_levels_4_call_on(bench_op.levels_4, &bench_left, &bench_right, 1, &out),
                  NULL);
    if (out != 2) {
        (void)fprintf(stderr, "a call answers %lld where 2 is right\n", (long long)out);
        return false;
    }
    return true;
}
