// Gradients against finite differences.
//
// Layer:     example test
// Threads:   as grad.h
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// Note [Tolerance]
//
// With (f(x + h) - f(x - h)) / 2h two errors meet. That of the method is h^2 / 6 times the third
// derivative. That of rounding is about e F / h, where e = 2^-53 and F is the sum of the magnitudes
// of the terms of f, since each of them is rounded. At h = cbrt(e), about 5e-6, both are about
// 2e-11 times F and the third derivative. The functions here have inputs of order one and at most a
// dozen steps, so their derivatives exceed F by less than a thousand: 1e-7 (1 + F) is at least five
// times what can come together. A formula that is wrong is off by the order of the gradient itself.

#include "differences.h"

#include <math.h>
#include <stdio.h>

#include <keyway/local.h>

#define STEP 4.8e-6 // cbrt(2^-53)
#define TOLERANCE 1e-7

// sum(result * weights), and the sum of the magnitudes.
static double weighted(kw_tensor *result, kw_tensor *weights, double *out_magnitude)
{
    kw_tensor *terms = OP(clone, OP(mul, result, weights));
    double sum = 0;
    *out_magnitude = 0;
    for (int64_t i = 0; i < kw_tensor_numel(terms); i++) {
        sum += test_at(terms, i);
        *out_magnitude += fabs(test_at(terms, i));
    }
    return sum;
}

typedef struct weighted_sum {
    test_function function;
    void *context;
    kw_tensor *const *leaves;
    kw_tensor *weights;
} weighted_sum;

// The sum with one element of a leaf moved.
static double moved(const weighted_sum *sum, kw_tensor *leaf, int64_t index, double by)
{
    double magnitude = 0;
    const size_t kept = test_kept_count();
    const double before = test_at(leaf, index);
    test_set(leaf, index, before + by);
    const double value =
        weighted(sum->function(sum->leaves, sum->context), sum->weights, &magnitude);
    test_set(leaf, index, before);
    test_release_to(kept);
    return value;
}

static void check_leaf(const weighted_sum *sum, kw_tensor *leaf, double tolerance)
{
    kw_tensor *grad = grad_of(leaf);
    CHECK(grad != NULL);
    for (int64_t i = 0; i < kw_tensor_numel(leaf); i++) {
        const double wanted = (moved(sum, leaf, i, STEP) - moved(sum, leaf, i, -STEP)) / (2 * STEP);
        const double got = test_at(grad, i);
        if (!(fabs(got - wanted) <= tolerance)) {
            (void)fprintf(stderr, "element %lld: %.12g, by differences %.12g\n", (long long)i, got,
                          wanted);
            test_fail(__FILE__, __LINE__, "the gradient is that of finite differences", "none");
        }
    }
}

void test_differences(test_function function, void *context, kw_tensor *const *leaves,
                      uint32_t leaf_count, uint64_t seed)
{
    double magnitude = 0;
    kw_local_guard guard;
    kw_tensor *result = function(leaves, context);
    const kw_int_list sizes = {kw_tensor_sizes(result), kw_tensor_dim(result)};
    kw_tensor *weights = test_random(&seed, KW_DTYPE_FLOAT64, sizes, 0.5, 1.5);
    const weighted_sum sum = {function, context, leaves, weights};
    (void)weighted(result, weights, &magnitude);
    CHECK_OK(grad_backward(result, weights, false));

    CHECK_OK(kw_local_below_autograd(&guard));
    for (uint32_t i = 0; i < leaf_count; i++) {
        check_leaf(&sum, leaves[i], TOLERANCE * (1 + magnitude));
    }
    kw_local_restore(&guard);
}
