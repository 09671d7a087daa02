// Memory that fails: at every allocation of a way forward and back there may be none.
//
// Layer:     example test
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include <keyway/local.h>

#include "test.h"

// A way forward and back that uses most of the example. Nothing of it is left afterwards but the
// gradients. Not with OP(), since each step may fail.
static kw_status build(kw_tensor *x, kw_tensor *w, kw_tensor **out_loss)
{
    enum {
        PRODUCT,
        SHOWN,
        HALF,
        CHANGED,
        WHOLE,
        COUNT
    };
    kw_tensor *t[COUNT] = {NULL};
    kw_status status = math_matmul_call(x, w, &t[PRODUCT]);
    if (status == KW_OK) {
        status = math_transpose_call(t[PRODUCT], 0, 1, &t[SHOWN]);
    }
    if (status == KW_OK) {
        status = math_slice_call(t[SHOWN], 0, 0, 1, &t[HALF]);
    }
    if (status == KW_OK) {
        status = math_mul__call(t[HALF], t[HALF], &t[CHANGED]);
    }
    if (status == KW_OK) {
        status = math_exp_call(t[SHOWN], &t[WHOLE]);
    }
    if (status == KW_OK) {
        status = math_mse_loss_call(t[WHOLE], x, out_loss);
    }
    for (int i = 0; i < COUNT; i++) {
        kw_tensor_release(t[i]);
    }
    return status;
}

static kw_status forward_and_back(kw_tensor *x, kw_tensor *w)
{
    kw_tensor *loss = NULL;
    kw_status status = build(x, w, &loss);
    if (status == KW_OK) {
        status = grad_backward(loss, NULL, false);
    }
    kw_tensor_release(loss);
    return status;
}

static uint64_t tensor_count(void)
{
    kw_tensor_statistics statistics = {.struct_size = sizeof statistics};
    kw_tensor_statistics_get(&statistics);
    return statistics.tensor_count + statistics.storage_count;
}

static uint64_t lease_count(void)
{
    kw_statistics statistics = {.struct_size = sizeof statistics};
    kw_statistics_get(&statistics);
    return statistics.lease_count;
}

static uint64_t memory_bytes(void)
{
    kw_statistics statistics = {.struct_size = sizeof statistics};
    kw_statistics_get(&statistics);
    return statistics.memory_bytes;
}

// One attempt with failing memory. Returns whether it needed none of what failed.
static bool attempt(kw_tensor *x, kw_tensor *w, uint64_t nth, bool and_after)
{
    const uint64_t tensors = tensor_count();
    const uint64_t leases = lease_count();
    const uint64_t bytes = memory_bytes();
    const kw_tensor *grad_of_x = grad_of(x);
    const kw_tensor *grad_of_w = grad_of(w);
    test_memory_fail(nth, and_after);
    kw_status status = forward_and_back(x, w);
    const bool enough = test_memory_asked() < nth;
    test_memory_fail(0, false);
    const bool is_same = grad_of(x) == grad_of_x && grad_of(w) == grad_of_w;
    CHECK(status == KW_OK ? grad_of(x) != grad_of_x : status == KW_NO_MEMORY && is_same);
    CHECK(tensor_count() == tensors && lease_count() == leases);
    CHECK(memory_bytes() == bytes);
    return enough;
}

static void every_allocation_may_fail(void)
{
    uint64_t seed = 1;
    kw_tensor *x = test_leaf(&seed, LIST(2, 2), 0.1, 0.5);
    kw_tensor *w = test_leaf(&seed, LIST(2, 2), 0.1, 0.5);
    uint64_t nth = 1;
    CHECK_OK(forward_and_back(x, w)); // caches are filled, and there are gradients to add to
    while (!attempt(x, w, nth, false)) {
        CHECK(attempt(x, w, nth, true) == false);
        nth++;
    }
    (void)fprintf(stderr, "%llu allocations\n", (unsigned long long)nth - 1);
    CHECK(nth > 50); // a test of nothing would be satisfied too
}

const test_case test_memory[] = {
    {"every_allocation_may_fail", every_allocation_may_fail},
    {NULL, NULL},
};
