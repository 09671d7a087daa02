// Layers: what kernels of the five operators have in common, which is everything but the maths.
//
// Layer:   example (uses keyway/tensor.h, fashion/math_plain.h)
// Threads: any
// SPDX-License-Identifier: MIT
//
// All functions fail as kernels do: the reason is left by kw_fail(), and the status is to be
// returned by the kernel.

#ifndef SERVE_LAYERS_H
#define SERVE_LAYERS_H

#include <fashion/math_plain.h>
#include <stdint.h>

#include <keyway/tensor.h>

/// Checks that `tensor` has `dim` extents and is a contiguous float32 tensor of the CPU.
kw_status serve_float_check(const kw_tensor *tensor, uint32_t dim, const char *name);

/// The same of a layer's weight, and of its bias unless that is NULL.
kw_status serve_weights_check(const kw_tensor *weight, uint32_t dim, const kw_tensor *bias);

// Describing --------------------------------------------------------------------------------------

/// Checks the arguments of nn::conv2d, which may be of any device and layout, and describes them.
kw_status serve_conv2d_describe(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                                int64_t padding, fashion_conv2d_shape *out_shape);

/// The same of nn::max_pool2d.
kw_status serve_max_pool2d_describe(const kw_tensor *x, int64_t size,
                                    fashion_pool2d_shape *out_shape);

/// What nn::linear multiplies: [rows, columns] by [out_columns, columns].
typedef struct serve_linear_shape {
    size_t rows;
    size_t columns;
    size_t out_columns;
} serve_linear_shape;

/// The same of nn::linear; what is behind the first extent of `x` counts as columns.
kw_status serve_linear_describe(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                                serve_linear_shape *out_shape);

/// The same of nn::softmax, for which `*out_rows` rows of `*out_columns` are to be normalised.
kw_status serve_softmax_describe(const kw_tensor *x, int64_t dim, size_t *out_rows,
                                 size_t *out_columns);

// Checking: serve_float_check() of all arguments, then describing ---------------------------------

kw_status serve_conv2d_check(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                             int64_t padding, fashion_conv2d_shape *out_shape);
kw_status serve_max_pool2d_check(const kw_tensor *x, int64_t size, fashion_pool2d_shape *out_shape);
kw_status serve_linear_check(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                             serve_linear_shape *out_shape);

// Results -----------------------------------------------------------------------------------------

/// The extents of a convolution's result.
void serve_conv2d_sizes(const fashion_conv2d_shape *shape, int64_t out_sizes[4]);

/// The extents of the result of pooling `x`.
void serve_max_pool2d_sizes(const kw_tensor *x, const fashion_pool2d_shape *shape,
                            int64_t out_sizes[4]);

/// Makes a kernel's result: serve_tensor_create(), failing as a kernel does.
kw_status serve_result_create(uint32_t dim, const int64_t *sizes, kw_tensor **out_tensor,
                              float **out_values);

/// The same for what has been described.
kw_status serve_conv2d_result(const fashion_conv2d_shape *shape, kw_tensor **out_tensor,
                              float **out_values);
kw_status serve_linear_result(const serve_linear_shape *shape, kw_tensor **out_tensor,
                              float **out_values);

// Preparing: everything before the maths of a kernel that reads and writes plain floats -----------
//
// Arguments are checked and described, and the result is made.

kw_status serve_conv2d_prepare(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                               int64_t padding, fashion_conv2d_shape *out_shape,
                               kw_tensor **out_tensor, float **out_values);
kw_status serve_relu_prepare(const kw_tensor *x, kw_tensor **out_tensor, float **out_values);
kw_status serve_max_pool2d_prepare(const kw_tensor *x, int64_t size,
                                   fashion_pool2d_shape *out_shape, kw_tensor **out_tensor,
                                   float **out_values);
kw_status serve_linear_prepare(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                               serve_linear_shape *out_shape, kw_tensor **out_tensor,
                               float **out_values);
kw_status serve_softmax_prepare(const kw_tensor *x, int64_t dim, size_t *out_rows,
                                size_t *out_columns, kw_tensor **out_tensor, float **out_values);

#endif // SERVE_LAYERS_H
