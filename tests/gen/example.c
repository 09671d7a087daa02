// The example of docs/generator.md: an operator, two kernels, a call.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <example.h>
#include <stdio.h>

#include <keyway/dispatcher.h>
#include <keyway/library.h>

static my_tensor result; // a tensor that owns nothing, to keep the example short

// snippet: kernel
static kw_status scale_cpu(const kw_kernel *self, kw_keyset keys, my_tensor *x, double factor,
                           my_tensor **out_0)
{
    (void)self;
    result.keys = keys;
    result.value = x->value * factor;
    *out_0 = &result;
    return KW_OK;
}

static kw_status scale_autograd(const kw_kernel *self, kw_keyset keys, my_tensor *x, double factor,
                                my_tensor **out_0)
{
    keys = kw_keyset_intersection(keys, kw_keyset_after_autograd());
    return nn_scale_redispatch_on(self->op, keys, x, factor, out_0);
}
// end of snippet

// snippet: register
static kw_status register_all(kw_library *library, kw_error *err)
{
    kw_transaction *tx = NULL;
    kw_status status = kw_transaction_begin(kw_dispatcher_default(), &tx, err);
    if (status != KW_OK) {
        return status;
    }
    status = example_define(tx, library, err);
    if (status == KW_OK) {
        status = nn_scale_impl(tx, library, KW_KEY_CPU, scale_cpu);
    }
    if (status == KW_OK) {
        status = nn_scale_impl(tx, library, KW_KEY_AutogradCPU, scale_autograd);
    }
    if (status != KW_OK) {
        *err = *kw_transaction_error(tx);
        kw_transaction_abort(tx);
        return status;
    }
    return kw_transaction_commit(tx, NULL, NULL, err);
}
// end of snippet

// snippet: call
static kw_status scaled(my_tensor *x, my_tensor **out_y)
{
    kw_status status = nn_scale_call(x, NN_SCALE_FACTOR_DEFAULT, out_y);
    if (status != KW_OK) {
        (void)fprintf(stderr, "%s\n", kw_call_error());
    }
    return status;
}
// end of snippet

int main(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_library *library = NULL;
    my_tensor x = {.value = 21};
    my_tensor *y = NULL;
    x.keys = kw_keyset_add(kw_keyset_from_key(KW_KEY_CPU), KW_KEY_AutogradCPU);
    if (kw_library_create(NULL, &library, &err) != KW_OK || register_all(library, &err) != KW_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    if (scaled(&x, &y) != KW_OK || y == NULL) {
        return 1;
    }
    (void)printf("%g\n", y->value);
    return y->value == 42 ? 0 : 1;
}
