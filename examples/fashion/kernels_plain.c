// Plain kernels: the five operators in portable C, as typed kernels.
//
// Layer:     example (uses kernels, kernel_shapes, math_plain)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "kernel_shapes.h"
#include "kernels.h"
#include "math_plain.h"

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status conv2d(const kw_kernel *self, kw_keyset keys, fashion_tensor *x,
                        fashion_tensor *weight, fashion_tensor *bias, int64_t padding,
                        fashion_tensor **out_0)
{
    (void)keys;
    kw_status status = fashion_kernel_enter(self, FASHION_OP_CONV2D);
    if (status != KW_OK) {
        return status;
    }
    fashion_conv2d_shape shape;
    fashion_tensor *y = NULL;
    status = fashion_conv2d_prepare(x, weight, bias, padding, &shape, &y);
    if (status == KW_OK) {
        fashion_plain_conv2d(&shape, fashion_tensor_values(x), fashion_tensor_values(weight),
                             fashion_tensor_values(bias), y->values);
    }
    return fashion_kernel_finish(self, status, y, out_0);
}

static kw_status relu(const kw_kernel *self, kw_keyset keys, fashion_tensor *x,
                      fashion_tensor **out_0)
{
    (void)keys;
    kw_status status = fashion_kernel_enter(self, FASHION_OP_RELU);
    if (status != KW_OK) {
        return status;
    }
    fashion_tensor *y = NULL;
    status = fashion_relu_prepare(x, &y);
    if (status == KW_OK) {
        fashion_plain_relu(y->count, fashion_tensor_values(x), y->values);
    }
    return fashion_kernel_finish(self, status, y, out_0);
}

static kw_status max_pool2d(const kw_kernel *self, kw_keyset keys, fashion_tensor *x, int64_t size,
                            fashion_tensor **out_0)
{
    (void)keys;
    kw_status status = fashion_kernel_enter(self, FASHION_OP_MAX_POOL2D);
    if (status != KW_OK) {
        return status;
    }
    fashion_pool2d_shape shape;
    fashion_tensor *y = NULL;
    status = fashion_max_pool2d_prepare(x, size, &shape, &y);
    if (status == KW_OK) {
        fashion_plain_max_pool2d(&shape, fashion_tensor_values(x), y->values);
    }
    return fashion_kernel_finish(self, status, y, out_0);
}

static kw_status linear(const kw_kernel *self, kw_keyset keys, fashion_tensor *x,
                        fashion_tensor *weight, fashion_tensor *bias, fashion_tensor **out_0)
{
    (void)keys;
    kw_status status = fashion_kernel_enter(self, FASHION_OP_LINEAR);
    if (status != KW_OK) {
        return status;
    }
    fashion_matrix_shape shape;
    fashion_tensor *y = NULL;
    status = fashion_linear_prepare(x, weight, bias, &shape, &y);
    if (status == KW_OK) {
        fashion_plain_linear(shape.n, shape.k, shape.m, fashion_tensor_values(x),
                             fashion_tensor_values(weight), fashion_tensor_values(bias), y->values);
    }
    return fashion_kernel_finish(self, status, y, out_0);
}

static kw_status softmax(const kw_kernel *self, kw_keyset keys, fashion_tensor *x, int64_t dim,
                         fashion_tensor **out_0)
{
    (void)keys;
    kw_status status = fashion_kernel_enter(self, FASHION_OP_SOFTMAX);
    if (status != KW_OK) {
        return status;
    }
    fashion_matrix_shape shape;
    fashion_tensor *y = NULL;
    status = fashion_softmax_prepare(x, dim, &shape, &y);
    if (status == KW_OK) {
        fashion_plain_softmax(shape.n, shape.m, fashion_tensor_values(x), y->values);
    }
    return fashion_kernel_finish(self, status, y, out_0);
}

kw_kernel_descriptor fashion_plain_kernel(fashion_op op)
{
    const kw_kernel_descriptor kernels[FASHION_OP_COUNT] = {
        [FASHION_OP_CONV2D] = nn_conv2d_unboxed(conv2d),
        [FASHION_OP_RELU] = nn_relu_unboxed(relu),
        [FASHION_OP_MAX_POOL2D] = nn_max_pool2d_unboxed(max_pool2d),
        [FASHION_OP_LINEAR] = nn_linear_unboxed(linear),
        [FASHION_OP_SOFTMAX] = nn_softmax_unboxed(softmax),
    };
    return kernels[op];
}

void fashion_plain_stage(fashion_change *change, kw_library *library, fashion_op op, kw_key key,
                         fashion_slot *out_slot)
{
    fashion_change_impl(change, library, op, key, fashion_plain_kernel(op), out_slot);
}
