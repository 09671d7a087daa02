// The plugin `openblas`: conv2d and linear as products of matrices.
//
// Layer:   example (uses the generated nn.h, layers.h, fashion/math_openblas.h)
// Threads: any; scratch is allocated by each call
// SPDX-License-Identifier: MIT
//
// A convolution unfolds its input into the windows of the kernel, one row for each tap, and is a
// product from there on. OpenBLAS computes in the thread that calls: the server has threads enough.

#include <cblas.h>
#include <fashion/math_openblas.h>
#include <limits.h>
#include <nn.h>
#include <stdlib.h>

#include <keyway/inline/call.h>
#include <keyway/plugin_api.h>

#include "layers.h"
#include "plugins/support/descriptor.h"
#include "plugins/support/pin.h"
#include "tensors.h"

// BLAS counts in int.
static kw_status need_blas_extents(const size_t *extents, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (extents[i] > INT_MAX) {
            return kw_fail(KW_NOT_SUPPORTED, "OpenBLAS has no matrices with a side of %zu",
                           extents[i]);
        }
    }
    return KW_OK;
}

static kw_status check_conv2d(kw_tensor *x, kw_tensor *weight, kw_tensor *bias, int64_t padding,
                              fashion_conv2d_shape *out_shape)
{
    const kw_status status = serve_conv2d_check(x, weight, bias, padding, out_shape);
    if (status != KW_OK) {
        return status;
    }
    const size_t taps = out_shape->in_channels * out_shape->kernel_height * out_shape->kernel_width;
    if (taps == 0) {
        return kw_fail(KW_NOT_SUPPORTED, "a kernel without elements is no matrix");
    }
    const size_t extents[] = {
        out_shape->out_channels,
        taps,
        fashion_conv2d_out_height(out_shape) * fashion_conv2d_out_width(out_shape),
    };
    return need_blas_extents(extents, sizeof extents / sizeof extents[0]);
}

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status conv2d(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, int64_t padding, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    fashion_conv2d_shape shape;
    kw_status status = check_conv2d(x, weight, bias, padding, &shape);
    if (status != KW_OK) {
        return status;
    }
    const size_t count = fashion_openblas_conv2d_scratch_count(&shape);
    float *scratch = reallocarray(NULL, count > 0 ? count : 1, sizeof *scratch);
    if (scratch == NULL) {
        return kw_fail(KW_NO_MEMORY, "no memory for %zu elements of scratch", count);
    }
    float *y = NULL;
    status = serve_conv2d_result(&shape, out_0, &y);
    if (status == KW_OK) {
        fashion_openblas_conv2d(&shape, serve_tensor_values(x), serve_tensor_values(weight),
                                serve_tensor_values(bias), scratch, y);
    }
    free(scratch);
    return status;
}

static kw_status linear(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    serve_linear_shape shape;
    kw_status status = serve_linear_check(x, weight, bias, &shape);
    if (status != KW_OK) {
        return status;
    }
    const size_t extents[] = {shape.rows, shape.columns, shape.out_columns};
    float *y = NULL;
    status = need_blas_extents(extents, sizeof extents / sizeof extents[0]);
    if (status == KW_OK) {
        status = serve_linear_result(&shape, out_0, &y);
    }
    if (status == KW_OK) {
        fashion_openblas_linear(shape.rows, shape.columns, shape.out_columns,
                                serve_tensor_values(x), serve_tensor_values(weight),
                                serve_tensor_values(bias), y);
    }
    return status;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api;
    kw_status status = serve_library_pin((const void *)(uintptr_t)cblas_sgemm, err);
    if (status != KW_OK) {
        return status;
    }
    fashion_openblas_one_thread();
    if ((status = nn_conv2d_impl(tx, library, KW_KEY_CPU, conv2d)) != KW_OK ||
        (status = nn_linear_impl(tx, library, KW_KEY_CPU, linear)) != KW_OK) {
        *err = *kw_transaction_error(tx);
    }
    return status;
}

KW_PLUGIN = SERVE_PLUGIN("nn", "openblas", "1.0", start, NULL);
