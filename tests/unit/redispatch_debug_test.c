// Progress in code compiled with KW_DEBUG: typed redispatches are checked too.
// SPDX-License-Identifier: MIT

#define KW_DEBUG 1

#include "support/registry.h"

TestSuite(redispatch_debug, .init = kwt_begin, .fini = kwt_end);

static int run_count;

// Redispatches with its own key still in the set.
static kw_status leave_in(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    cr_assert_lt(++run_count, 100);
    return kwt_redispatch_t_i(self->op, keys, x, out_0);
}

// Hands on to the key of its user data, with CPU.
static kw_status hand_on(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    (void)keys;
    cr_assert_lt(++run_count, 100);
    const kw_key *other = self->user_data;
    return kwt_redispatch_t_i(self->op, kw_keyset_add(kwt_keyset("CPU"), *other), x, out_0);
}

// Redispatches twice to the layer below: two calls after each other, none inside the other.
static kw_status twice(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_full_after(KW_KEY_Tracer));
    kw_status status = kwt_redispatch_t_i(self->op, below, x, out_0);
    int64_t first = *out_0;
    status = status == KW_OK ? kwt_redispatch_t_i(self->op, below, x, out_0) : status;
    *out_0 += first;
    return status;
}

static const kw_operator *make(kw_library **out_library)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    *out_library = kwt_library(dispatcher, "a");
    (void)kwt_define(*out_library, "t::f(Tensor x) -> int");
    (void)kwt_impl(*out_library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    run_count = 0;
    return kwt_find(dispatcher, "t::f");
}

Test(redispatch_debug, handler_that_leaves_its_key_in_is_stopped)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer, KW_UNBOXED("t>i", leave_in));
    kwt_tensor tensor = kwt_make_tensor("CPU, Tracer");
    int64_t number = 0;
    KWT_STATUS(KW_NO_PROGRESS, kwt_call_t_i(op, &tensor, &number));
    KWT_HAS(kw_call_error(), "no progress at key Tracer");
    cr_expect_leq(run_count, 3);
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1, "the next call is fine");
}

Test(redispatch_debug, two_handlers_that_hand_on_to_each_other_are_stopped)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    kw_key to_tracer = KW_KEY_Tracer;
    kw_key to_python = KW_KEY_Python;
    (void)kwt_impl(library, "t::f", KW_KEY_Python,
                   kwt_with(KW_UNBOXED("t>i", hand_on), &to_tracer, NULL));
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer,
                   kwt_with(KW_UNBOXED("t>i", hand_on), &to_python, NULL));
    kwt_tensor tensor = kwt_make_tensor("CPU, Python");
    int64_t number = 0;
    KWT_STATUS(KW_NO_PROGRESS, kwt_call_t_i(op, &tensor, &number));
    cr_expect_leq(run_count, 4);
}

Test(redispatch_debug, two_redispatches_after_each_other_are_legal)
{
    kw_library *library;
    const kw_operator *op = make(&library);
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer, KW_UNBOXED("t>i", twice));
    kwt_tensor tensor = kwt_make_tensor("CPU, Tracer");
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(kwt_result_t_i(op, &tensor), 2);
    }
}
