// Modes: nothing recorded, inference, detached tensors.
//
// Layer:     example test
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <keyway/local.h>

#include "test.h"

static void nothing_is_recorded_below_autograd(void)
{
    uint64_t seed = 1;
    kw_local_guard guard;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    CHECK_OK(kw_local_below_autograd(&guard));
    kw_tensor *constant = OP(mul, x, x);
    kw_local_restore(&guard);
    CHECK(!grad_is_required(constant) && kw_tensor_autograd(constant) == NULL);
    CHECK_OK(grad_backward(OP(sum, OP(mul, x, constant), NULL, false), NULL, false));
    CHECK(test_same(grad_of(x), constant));
}

// The composites go on to be recorded: they are above the layer, and its guard is not in the way.
static void composites_are_recorded_by_their_parts(void)
{
    uint64_t seed = 2;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *zero = OP(sub, x, x);
    CHECK(grad_is_required(zero) && test_at(zero, 0) == 0);
    CHECK_OK(grad_backward(OP(mse_loss, x, zero), NULL, false));
    CHECK(test_at(grad_of(x), 0) == test_at(x, 0)); // d/dx mean((x - (x - x))^2)
}

static void inference_has_no_tape_and_no_versions(void)
{
    uint64_t seed = 3;
    uint32_t version = 0;
    kw_local_guard guard;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    CHECK_OK(kw_local_inference_mode(true, &guard));
    kw_tensor *y = OP(mul, x, x);
    kw_tensor *row = OP(select, y, 0, 0);
    (void)OP(add_, y, y, 1);
    CHECK_REFUSED(GRAD_REFUSED, "leave inference mode", grad_backward(y, x, false));
    kw_local_restore(&guard);
    CHECK(kw_tensor_is_inference(y) && kw_tensor_is_inference(row));
    CHECK(kw_tensor_autograd(y) == NULL && kw_tensor_autograd(row) == NULL);
    CHECK(kw_tensor_version(y, &version, NULL) == KW_NOT_SUPPORTED);
    CHECK(test_at(y, 0) == 2 * test_at(x, 0) * test_at(x, 0));
}

static void inference_tensor_is_refused_by_autograd(void)
{
    uint64_t seed = 4;
    kw_tensor *out = NULL;
    kw_local_guard guard;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    CHECK_OK(kw_local_inference_mode(true, &guard));
    kw_tensor *y = OP(exp, x);
    kw_local_restore(&guard);
    CHECK_REFUSED(GRAD_REFUSED, "math::mul would save an inference tensor",
                  math_mul_call(x, y, &out));
    CHECK_REFUSED(GRAD_REFUSED, "an inference tensor has no gradient", grad_require(y));
    CHECK(math_add__call(y, y, 1, &out) == KW_NOT_SUPPORTED && out == NULL);

    // What saves nothing of it may use it, and a clone is a tensor like any other.
    CHECK(grad_is_required(OP(add, x, y, 1)));
    kw_tensor *copy = OP(clone, y);
    CHECK(!kw_tensor_is_inference(copy));
    CHECK_OK(grad_backward(OP(sum, OP(mul, x, copy), NULL, false), NULL, false));
    CHECK(test_same(grad_of(x), copy));
}

// A change in inference mode counts for a tensor that was made outside.
static void change_in_inference_mode_is_found(void)
{
    uint64_t seed = 5;
    kw_local_guard guard;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *constant = test_random(&seed, KW_DTYPE_FLOAT64, LIST(2), 1, 2);
    kw_tensor *z = OP(sum, OP(mul, x, constant), NULL, false);
    CHECK_OK(kw_local_inference_mode(true, &guard));
    (void)OP(fill_, constant, 0);
    kw_local_restore(&guard);
    CHECK_REFUSED(GRAD_MODIFIED, "at version 1", grad_backward(z, NULL, false));
}

static void detached_tensor_has_no_part_in_the_graph(void)
{
    uint64_t seed = 6;
    kw_tensor *detached = NULL;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *y = OP(mul, x, x);
    CHECK_OK(kw_tensor_detach(y, &detached, NULL));
    test_keep(detached);
    CHECK(!grad_is_required(detached) && kw_tensor_storage(detached) == kw_tensor_storage(y));
    CHECK_OK(grad_require(detached));
    CHECK_OK(grad_backward(OP(sum, OP(mul, x, detached), NULL, false), NULL, false));
    CHECK(test_same(grad_of(x), y) && test_same(grad_of(detached), x));
}

const test_case test_modes[] = {
    {"nothing_is_recorded_below_autograd", nothing_is_recorded_below_autograd},
    {"composites_are_recorded_by_their_parts", composites_are_recorded_by_their_parts},
    {"inference_has_no_tape_and_no_versions", inference_has_no_tape_and_no_versions},
    {"inference_tensor_is_refused_by_autograd", inference_tensor_is_refused_by_autograd},
    {"change_in_inference_mode_is_found", change_in_inference_mode_is_found},
    {"detached_tensor_has_no_part_in_the_graph", detached_tensor_has_no_part_in_the_graph},
    {NULL, NULL},
};
