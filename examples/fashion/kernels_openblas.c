// OpenBLAS kernels: convolution and linear layer through BLAS; for the rest the plain kernels.
//
// Layer:     example (uses kernels, kernel_shapes, math_openblas)
// Threads:   any that has a request, which holds the scratch of a convolution
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "kernel_shapes.h"
#include "kernels.h"
#include "math_openblas.h"
#include "request.h"

static kw_status compute_conv2d(const fashion_conv2d_shape *shape, const fashion_tensor *x,
                                const fashion_tensor *weight, const fashion_tensor *bias,
                                fashion_tensor *y)
{
    float *scratch = fashion_request_scratch(fashion_openblas_conv2d_scratch_count(shape));
    if (scratch == NULL) {
        return kw_fail(KW_NO_MEMORY, "no scratch, or the thread has no request to hold it");
    }
    fashion_openblas_conv2d(shape, x->values, weight->values, fashion_tensor_values(bias), scratch,
                            y->values);
    return KW_OK;
}

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
        status = compute_conv2d(&shape, x, weight, bias, y);
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
        fashion_openblas_linear(shape.n, shape.k, shape.m, fashion_tensor_values(x),
                                fashion_tensor_values(weight), fashion_tensor_values(bias),
                                y->values);
    }
    return fashion_kernel_finish(self, status, y, out_0);
}

void fashion_openblas_stage(fashion_change *change, kw_library *library, fashion_op op, kw_key key,
                            fashion_slot *out_slot)
{
    kw_kernel_descriptor kernel = fashion_plain_kernel(op);
    if (op == FASHION_OP_CONV2D) {
        kernel = nn_conv2d_unboxed(conv2d);
    } else if (op == FASHION_OP_LINEAR) {
        kernel = nn_linear_unboxed(linear);
    }
    fashion_change_impl(change, library, op, key, kernel, out_slot);
}
