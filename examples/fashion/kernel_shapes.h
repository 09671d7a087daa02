// Kernel shapes: checks the arguments of a kernel and makes the tensor of its result.
//
// Layer:     example (uses tensor, math_plain)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// On success the caller owns the result, whose values are still to be written. On failure
// there is none, and the thread's text says why.

#ifndef FASHION_KERNEL_SHAPES_H
#define FASHION_KERNEL_SHAPES_H

#include <stdint.h>

#include <keyway/call.h>

#include "math_plain.h"
#include "tensor.h"

typedef struct fashion_matrix_shape {
    size_t n; // rows of x
    size_t k; // columns of x; a tensor of higher rank is flattened behind its first extent
    size_t m; // columns of the result
} fashion_matrix_shape;

kw_status fashion_conv2d_prepare(const fashion_tensor *x, const fashion_tensor *weight,
                                 const fashion_tensor *bias, int64_t padding,
                                 fashion_conv2d_shape *out_shape, fashion_tensor **out_result);
kw_status fashion_relu_prepare(const fashion_tensor *x, fashion_tensor **out_result);
kw_status fashion_max_pool2d_prepare(const fashion_tensor *x, int64_t size,
                                     fashion_pool2d_shape *out_shape, fashion_tensor **out_result);
kw_status fashion_linear_prepare(const fashion_tensor *x, const fashion_tensor *weight,
                                 const fashion_tensor *bias, fashion_matrix_shape *out_shape,
                                 fashion_tensor **out_result);

/// Only the last dimension of a matrix can be chosen.
kw_status fashion_softmax_prepare(const fashion_tensor *x, int64_t dim,
                                  fashion_matrix_shape *out_shape, fashion_tensor **out_result);

#endif // FASHION_KERNEL_SHAPES_H
