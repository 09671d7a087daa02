// Direct network: the example's network as plain function calls, a baseline.
//
// Layer:     example (uses weights, math_plain, math_openblas)
// Threads:   any; the scratch belongs to the caller
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "network_direct.h"

#include "math_openblas.h"
#include "math_plain.h"

enum {
    // Floats of one image in the largest activation, [16, 28, 28]; two of them alternate.
    activation_count = 16 * 28 * 28,
    // The larger unfolded image of the two convolutions, [16 * 9, 14 * 14] against [9, 28 * 28].
    unfold_count = 16 * 9 * 14 * 14,
};

size_t fashion_network_scratch_count(size_t batch)
{
    return 2 * batch * activation_count + unfold_count;
}

// Computes max_pool2d(relu(conv2d(x))) into `result`: [batch, C, side, side] to
// [batch, O, side / 2, side / 2]. `other` is overwritten on the way and may be x itself.
// NOLINTNEXTLINE(readability-function-size): the operands of three layers
static void conv_block(fashion_math math, size_t batch, size_t side,
                       const fashion_parameter *weight, const fashion_parameter *bias,
                       const float *x, float *unfolded, float *result, float *other)
{
    const fashion_conv2d_shape conv = {
        .batch = batch,
        .in_channels = weight->shape[1],
        .height = side,
        .width = side,
        .out_channels = weight->shape[0],
        .kernel_height = weight->shape[2],
        .kernel_width = weight->shape[3],
        .padding = 1,
    };
    if (math == FASHION_MATH_OPENBLAS) {
        fashion_openblas_conv2d(&conv, x, weight->values, bias->values, unfolded, result);
    } else {
        fashion_plain_conv2d(&conv, x, weight->values, bias->values, result);
    }
    const fashion_pool2d_shape pool = {batch * weight->shape[0], side, side, 2, 2};
    fashion_plain_relu(pool.planes * side * side, result, other);
    fashion_plain_max_pool2d(&pool, other, result);
}

static void linear(fashion_math math, size_t batch, const fashion_parameter *weight,
                   const fashion_parameter *bias, const float *x, float *y)
{
    const size_t m = weight->shape[0];
    const size_t k = weight->shape[1];
    if (math == FASHION_MATH_OPENBLAS) {
        fashion_openblas_linear(batch, k, m, x, weight->values, bias->values, y);
    } else {
        fashion_plain_linear(batch, k, m, x, weight->values, bias->values, y);
    }
}

void fashion_network_direct(fashion_math math, const fashion_weights *weights, size_t batch,
                            const float *x, float *scratch, float *logits)
{
    float *unfolded = scratch;
    float *one = unfolded + unfold_count;
    float *two = one + batch * activation_count;
    conv_block(math, batch, 28, &weights->conv1_weight, &weights->conv1_bias, x, unfolded, one,
               two);
    conv_block(math, batch, 14, &weights->conv2_weight, &weights->conv2_bias, one, unfolded, two,
               one);
    linear(math, batch, &weights->linear1_weight, &weights->linear1_bias, two, one);
    fashion_plain_relu(batch * weights->linear1_bias.shape[0], one, two);
    linear(math, batch, &weights->linear2_weight, &weights->linear2_bias, two, logits);
}
