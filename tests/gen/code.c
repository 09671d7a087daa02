// Every way that calls and redispatches take, in code of either sort: see Note [Small code].
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <example.h>
#include <stdio.h>

#include <keyway/dispatcher.h>
#include <keyway/library.h>
#include <keyway/local.h>

#define DEEP 40 // calls inside one another: more than a thread's block announces

static my_tensor result;    // a tensor that owns nothing
static kw_keyset seen;      // by the CPU kernel that ran last
static unsigned still_deep; // levels that the autograd kernel has to go down yet
static unsigned failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);          \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static kw_status scale_cpu(const kw_kernel *self, kw_keyset keys, my_tensor *x, double factor,
                           my_tensor **out_0)
{
    (void)self;
    seen = keys;
    result.value = x->value * factor;
    *out_0 = &result;
    return KW_OK;
}

// Calls the operator anew on each level but the last, then redispatches on every level.
static kw_status scale_autograd(const kw_kernel *self, kw_keyset keys, my_tensor *x, double factor,
                                my_tensor **out_0)
{
    if (still_deep > 0) {
        still_deep--;
        kw_status status = nn_scale_call_on(self->op, x, factor, out_0);
        if (status != KW_OK) {
            return status;
        }
    }
    keys = kw_keyset_intersection(keys, kw_keyset_after_autograd());
    return nn_scale_redispatch_on(self->op, keys, x, factor, out_0);
}

static kw_status register_all(kw_library *library, kw_error *err)
{
    kw_transaction *tx = NULL;
    kw_status status = kw_transaction_begin(kw_dispatcher_default(), &tx, err);
    if (status != KW_OK) {
        return status;
    }
    status = example_define(tx, library, err);
    status |= nn_scale_impl(tx, library, KW_KEY_CPU, scale_cpu);
    status |= nn_scale_impl(tx, library, KW_KEY_AutogradCPU, scale_autograd);
    if (status != KW_OK) {
        kw_transaction_abort(tx);
        return status;
    }
    return kw_transaction_commit(tx, NULL, NULL, err);
}

static double scale(my_tensor *x)
{
    my_tensor *y = NULL;
    kw_status status = nn_scale_call(x, 2, &y);
    return status == KW_OK && y != NULL ? y->value : -1;
}

static void check_keys(my_tensor *x)
{
    kw_local_guard guard;
    x->keys = kw_keyset_from_key(KW_KEY_CPU);
    CHECK(scale(x) == 42);
    CHECK(kw_keyset_equal(seen, kw_keyset_from_key(KW_KEY_CPU)));
    x->keys = kw_keyset_add(x->keys, KW_KEY_AutogradCPU);
    CHECK(scale(x) == 42);
    CHECK(!kw_keyset_has(seen, KW_KEY_AutogradCPU));
    CHECK(kw_local_below_autograd(&guard) == KW_OK); // the thread's sets count
    CHECK(scale(x) == 42);
    CHECK(kw_keyset_equal(seen, kw_keyset_from_key(KW_KEY_CPU)));
    kw_local_restore(&guard);
    x->keys = kw_keyset_from_key(KW_KEY_CUDA);
    CHECK(scale(x) == -1);
}

static void check_redispatch(my_tensor *x)
{
    const kw_operator *op = nn_scale_handle();
    my_tensor *y = NULL;
    x->keys = kw_keyset_add(kw_keyset_from_key(KW_KEY_CPU), KW_KEY_AutogradCPU);
    // Outside every call it is a call with the given keys.
    CHECK(nn_scale_redispatch_on(op, kw_keyset_from_key(KW_KEY_CPU), x, 2, &y) == KW_OK);
    CHECK(y == &result && result.value == 42);
    CHECK(nn_scale_redispatch_on(op, kw_keyset_from_key(KW_KEY_CUDA), x, 2, &y) != KW_OK);
    still_deep = DEEP;
    result.value = 0;
    CHECK(scale(x) == 42);
    CHECK(still_deep == 0);
    CHECK(kw_call_operator() == NULL); // every call has ended
}

int main(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_library *library = NULL;
    my_tensor x = {.value = 21};
    if (kw_library_create(NULL, &library, &err) != KW_OK || register_all(library, &err) != KW_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    check_keys(&x);
    check_redispatch(&x);
    (void)printf("%u of the answers are wrong\n", failures);
    return failures == 0 ? 0 : 1;
}
