// Kernel shapes: checks the arguments of a kernel and makes the tensor of its result.
//
// Layer:     example (uses tensor, math_plain)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "kernel_shapes.h"

#include <stdbool.h>

// Larger extents than any picture has, but small enough that no product of four overflows.
enum {
    extent_limit = 1 << 15
};

static kw_status make(size_t rank, const size_t *shape, fashion_tensor **out_result)
{
    fashion_tensor *result = fashion_tensor_create(rank, shape);
    if (result == NULL) {
        return kw_fail(KW_NO_MEMORY, "no memory for the result");
    }
    *out_result = result;
    return KW_OK;
}

static bool has_rank(const fashion_tensor *tensor, size_t rank)
{
    return tensor != NULL && tensor->rank == rank;
}

static bool is_vector_of(const fashion_tensor *tensor, size_t count)
{
    return tensor == NULL || (tensor->rank == 1 && tensor->count == count);
}

kw_status fashion_conv2d_prepare(const fashion_tensor *x, const fashion_tensor *weight,
                                 const fashion_tensor *bias, int64_t padding,
                                 fashion_conv2d_shape *out_shape, fashion_tensor **out_result)
{
    if (!has_rank(x, 4) || !has_rank(weight, 4) || x->shape[1] != weight->shape[1] ||
        !is_vector_of(bias, weight->shape[0]) || padding < 0 || padding > extent_limit) {
        return kw_fail(KW_KERNEL_FAILED,
                       "shapes of x, weight and bias, or the padding, do not fit");
    }
    const fashion_conv2d_shape shape = {
        .batch = x->shape[0],
        .in_channels = x->shape[1],
        .height = x->shape[2],
        .width = x->shape[3],
        .out_channels = weight->shape[0],
        .kernel_height = weight->shape[2],
        .kernel_width = weight->shape[3],
        .padding = (size_t)padding,
    };
    const size_t result_shape[] = {shape.batch, shape.out_channels,
                                   fashion_conv2d_out_height(&shape),
                                   fashion_conv2d_out_width(&shape)};
    *out_shape = shape;
    return make(4, result_shape, out_result);
}

kw_status fashion_relu_prepare(const fashion_tensor *x, fashion_tensor **out_result)
{
    if (x == NULL) {
        return kw_fail(KW_KERNEL_FAILED, "x is absent");
    }
    return make(x->rank, x->shape, out_result);
}

kw_status fashion_max_pool2d_prepare(const fashion_tensor *x, int64_t size,
                                     fashion_pool2d_shape *out_shape, fashion_tensor **out_result)
{
    if (!has_rank(x, 4) || size < 1 || size > extent_limit) {
        return kw_fail(KW_KERNEL_FAILED, "x is no batch of images, or the size is not positive");
    }
    const fashion_pool2d_shape shape = {
        .planes = x->shape[0] * x->shape[1],
        .height = x->shape[2],
        .width = x->shape[3],
        .kernel = (size_t)size,
        .stride = (size_t)size,
    };
    const size_t result_shape[] = {x->shape[0], x->shape[1], fashion_pool2d_out_height(&shape),
                                   fashion_pool2d_out_width(&shape)};
    *out_shape = shape;
    return make(4, result_shape, out_result);
}

kw_status fashion_linear_prepare(const fashion_tensor *x, const fashion_tensor *weight,
                                 const fashion_tensor *bias, fashion_matrix_shape *out_shape,
                                 fashion_tensor **out_result)
{
    if (x == NULL || x->rank == 0 || x->shape[0] == 0 || !has_rank(weight, 2) ||
        x->count / x->shape[0] != weight->shape[1] || !is_vector_of(bias, weight->shape[0])) {
        return kw_fail(KW_KERNEL_FAILED, "shapes of x, weight and bias do not fit");
    }
    *out_shape = (fashion_matrix_shape){x->shape[0], weight->shape[1], weight->shape[0]};
    const size_t result_shape[] = {out_shape->n, out_shape->m};
    return make(2, result_shape, out_result);
}

kw_status fashion_softmax_prepare(const fashion_tensor *x, int64_t dim,
                                  fashion_matrix_shape *out_shape, fashion_tensor **out_result)
{
    if (!has_rank(x, 2) || (dim != 1 && dim != -1)) {
        return kw_fail(KW_KERNEL_FAILED, "x is no matrix, or the dimension is not its last");
    }
    *out_shape = (fashion_matrix_shape){x->shape[0], x->shape[1], x->shape[1]};
    return make(2, x->shape, out_result);
}
