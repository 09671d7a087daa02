// Redispatches: keys as given, in the table of the call they are made from.
// SPDX-License-Identifier: MIT

#include <keyway/local.h>

#include "rcu/thread.h"
#include "registry/operator.h"
#include "support/registry.h"

TestSuite(redispatch, .init = kwt_begin, .fini = kwt_end);

static const kw_operator *make(const char *schema, kw_library **out_library)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    *out_library = kwt_library(dispatcher, "a");
    (void)kwt_define(*out_library, schema);
    return kwt_find(dispatcher, "t::f");
}

static uint32_t own_depth(void)
{
    return kwi_u32_load_relaxed(&kwi_thread_current()->hot.depth);
}

// A typed layer: like kwt_layer_boxed.
static kw_status layer_t_i(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    const kwt_layer *layer = self->user_data;
    kwt_trace[kwt_trace_count++] = (kwt_step){layer->number, keys, self->op};
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_full_after(layer->key));
    return kwt_redispatch_t_i(self->op, below, x, out_0);
}

static kwt_layer layers[4] = {{4, KW_KEY_Tracer},
                              {3, KW_KEY_AutogradCPU},
                              {2, KW_KEY_ADInplaceOrView},
                              {1, KW_KEY_BackendSelect}};

// Registers the layers from `first` on, boxed or not as the bits of `boxed` say.
static void stack_layers(kw_library *library, int first, unsigned boxed)
{
    for (int i = first; i < 4; i++) {
        kw_kernel_descriptor kernel =
            (boxed >> i & 1) != 0 ? KW_BOXED(kwt_layer_boxed) : KW_UNBOXED("t>i", layer_t_i);
        (void)kwt_impl(library, "t::f", layers[i].key, kwt_with(kernel, &layers[i], NULL));
    }
}

static void expect_chain(int first)
{
    cr_assert_eq(kwt_trace_count, (unsigned)(5 - first));
    for (unsigned i = 0; i + 1 < kwt_trace_count; i++) {
        cr_expect_eq(kwt_trace[i].number, 4 - first - (int)i);
        cr_expect(kw_keyset_has(kwt_trace[i].keys, layers[first + (int)i].key));
        cr_expect_not(kw_keyset_has(kwt_trace[i + 1].keys, layers[first + (int)i].key));
    }
    cr_expect_eq(kwt_trace[kwt_trace_count - 1].number, 100);
    cr_expect_eq(kwt_trace[kwt_trace_count - 1].keys.bits, kwt_keyset("CPU").bits);
}

Test(redispatch, chains_of_every_length_and_kind_come_down_in_order)
{
    for (int first = 0; first < 4; first++) {
        for (unsigned boxed = 0; boxed < 32; boxed++) {
            kw_library *library;
            const kw_operator *op = make("t::f(Tensor x) -> int", &library);
            stack_layers(library, first, boxed);
            (void)kwt_impl(library, "t::f", KW_KEY_CPU,
                           (boxed >> 4) != 0 ? KWT_BOXED(100) : KWT_T_I(100));
            kwt_tensor cpu = kwt_make_tensor(first == 0   ? "CPU, AutogradCPU, Tracer"
                                             : first == 1 ? "CPU, AutogradCPU"
                                                          : "CPU");
            kwt_trace_clear();
            cr_assert_eq(kwt_result_t_i(op, &cpu), 100);
            expect_chain(first);
            kwt_trace_clear();
            kw_value arg = kw_value_tensor(&cpu);
            int64_t number = 0;
            KWT_OK(kwt_call_frame(op, &arg, 1, &number));
            expect_chain(first);
            cr_assert_eq(own_depth(), 0);
        }
        kwt_end();
    }
}

// Runs a redispatch of the operator in its user data with the keys given in `given_keys`.
static kw_keyset given_keys;
static kw_status redispatch_given_t_i(const kw_kernel *self, kw_keyset keys, void *x,
                                      int64_t *out_0)
{
    (void)keys;
    const kw_operator *op = self->user_data != NULL ? self->user_data : self->op;
    return kwt_redispatch_t_i(op, given_keys, x, out_0);
}

static kw_status redispatch_given_boxed(const kw_kernel *self, const kw_operator *op,
                                        kw_keyset keys, kw_frame *frame)
{
    (void)keys;
    return kw_redispatch_boxed(self->user_data != NULL ? self->user_data : op, given_keys, frame);
}

// Both kinds of kernels, one after the other, registered for Tracer.
static void register_giver(kw_library *library, int kind, void *user_data)
{
    kw_kernel_descriptor kernel =
        kind == 0 ? KW_UNBOXED("t>i", redispatch_given_t_i) : KW_BOXED(redispatch_given_boxed);
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer, kwt_with(kernel, user_data, NULL));
}

Test(redispatch, keys_are_used_as_given)
{
    for (int kind = 0; kind < 2; kind++) {
        kw_library *library;
        const kw_operator *op = make("t::f(Tensor x) -> int", &library);
        register_giver(library, kind, NULL);
        (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
        (void)kwt_impl(library, "t::f", KW_KEY_XLA, KWT_T_I(2));
        kwt_tensor tensor = kwt_make_tensor("CPU, Tracer");
        kw_local_guard guard;
        KWT_OK(kw_local_exclude(kwt_keyset("XLA"), &guard)); // no local sets
        given_keys = kwt_keyset("XLA");
        kwt_trace_clear();
        // Excluding XLA excludes Dense, so the call itself needs Tracer only.
        cr_expect_eq(kwt_result_t_i(op, &tensor), 2);
        cr_expect_eq(kwt_trace[0].keys.bits, given_keys.bits);
        kw_local_restore(&guard);
    }
}

Test(redispatch, fallthrough_that_is_reached_says_so)
{
    for (int kind = 0; kind < 2; kind++) {
        kw_library *library;
        const kw_operator *op = make("t::f(Tensor x) -> int", &library);
        register_giver(library, kind, NULL);
        (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
        (void)kwt_impl(library, "t::f", KW_KEY_Conjugate, kwt_at(KW_FALLTHROUGH(), "through.c", 8));
        kwt_tensor tensor = kwt_make_tensor("CPU, Tracer, Conjugate");
        given_keys = kwt_keyset("CPU, Conjugate"); // no mask
        int64_t number = 0;
        KWT_STATUS(KW_FALLTHROUGH_REACHED, kwt_call_t_i(op, &tensor, &number));
        KWT_HAS(kw_call_error(), "Conjugate");
        KWT_HAS(kw_call_error(), "through.c:8");
        given_keys = kwt_keyset("CPU, AutogradCPU");
        KWT_STATUS(KW_FALLTHROUGH_REACHED, kwt_call_t_i(op, &tensor, &number));
        KWT_HAS(kw_call_error(), "standard");
    }
}

Test(redispatch, of_another_operator_is_a_call_with_the_given_keys)
{
    for (int kind = 0; kind < 2; kind++) {
        kw_library *library;
        const kw_operator *op = make("t::f(Tensor x) -> int", &library);
        (void)kwt_define(library, "t::other(Tensor x) -> int");
        (void)kwt_impl(library, "t::other", KW_KEY_XLA, KWT_T_I(2));
        (void)kwt_impl(library, "t::other", KW_KEY_CPU, KWT_T_I(3));
        const kw_operator *other = kwt_find(op->dispatcher, "t::other");
        register_giver(library, kind, (void *)(uintptr_t)other);
        kwt_tensor tensor = kwt_make_tensor("CPU, Tracer");
        given_keys = kwt_keyset("XLA");
        kwt_trace_clear();
        cr_expect_eq(kwt_result_t_i(op, &tensor), 2);
        cr_expect_eq(kwt_trace[0].op, other);
        cr_expect_eq(kwt_trace[0].keys.bits, given_keys.bits);
        cr_expect_eq(own_depth(), 0);
    }
}

Test(redispatch, outside_every_call_is_a_call_with_the_given_keys)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "t::f", KW_KEY_XLA, KWT_T_I(2));
    kwt_tensor tensor = kwt_make_tensor("CPU");
    int64_t number = 0;
    KWT_OK(kwt_redispatch_t_i(op, kwt_keyset("XLA"), &tensor, &number));
    cr_expect_eq(number, 2);
    kw_value arg = kw_value_tensor(&tensor);
    kw_value result = kw_value_none();
    kw_frame frame = {.args = &arg, .returns = &result, .arg_count = 1, .return_count = 1};
    KWT_OK(kw_redispatch_boxed(op, kwt_keyset("XLA"), &frame));
    cr_expect_eq(result.as.as_int, 2);
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, kwt_redispatch_t_i(op, kwt_keyset("CUDA"), &tensor, &number));
    KWT_HAS(kw_call_error(), "CUDA");
    cr_expect_eq(own_depth(), 0);
}

static kw_status replace_argument(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                  kw_frame *frame)
{
    kw_value before = frame->args[0];
    frame->args[0] = kw_value_tensor(self->user_data);
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_full_after(KW_KEY_AutogradCPU));
    kw_status status = kw_redispatch_boxed(op, below, frame);
    frame->args[0] = before;
    return status;
}

static kw_status number_of_tensor(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    (void)self;
    (void)keys;
    *out_0 = ((const kwt_tensor *)x)->number;
    return KW_OK;
}

Test(redispatch, replaced_argument_reaches_the_next_kernel)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    kwt_tensor inner = kwt_make_tensor("CPU");
    inner.number = 77;
    (void)kwt_impl(library, "t::f", KW_KEY_AutogradCPU,
                   kwt_with(KW_BOXED(replace_argument), &inner, NULL));
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KW_UNBOXED("t>i", number_of_tensor));
    kwt_tensor outer = kwt_make_tensor("CPU, AutogradCPU");
    outer.number = 1;
    cr_expect_eq(kwt_result_t_i(op, &outer), 77);
    kw_value arg = kw_value_tensor(&outer);
    int64_t number = 0;
    KWT_OK(kwt_call_frame(op, &arg, 1, &number));
    cr_expect_eq(number, 77);
    cr_expect_eq(arg.as.as_tensor, &outer);
}

// Swaps the CPU kernel while the call is under way, then goes on.
typedef struct swap {
    kw_library *library;
    kw_registration old;
} swap;

static kw_status swap_below(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                            kw_frame *frame)
{
    swap *plan = self->user_data;
    if (plan->old != 0) {
        kwt_remove(plan->library, plan->old);
        (void)kwt_impl(plan->library, "t::f", KW_KEY_CPU, KWT_T_I(2));
        plan->old = 0;
    }
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_full_after(KW_KEY_AutogradCPU));
    return kw_redispatch_boxed(op, below, frame);
}

Test(redispatch, whole_chain_sees_one_table)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    swap plan = {library, kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1))};
    (void)kwt_impl(library, "t::f", KW_KEY_AutogradCPU,
                   kwt_with(KW_BOXED(swap_below), &plan, NULL));
    kwt_tensor cpu = kwt_make_tensor("CPU, AutogradCPU");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1, "the kernel of the call's own version");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 2);
    KWT_OK(kw_reclaim());
    cr_expect_eq(kwt_statistics().retired_count, 0);
}
