// Layers: what kernels of the five operators have in common, which is everything but the maths.
//
// Layer:   example (uses keyway/tensor.h, fashion/math_plain.h)
// Threads: any
// SPDX-License-Identifier: MIT

#include "layers.h"

#include <keyway/call.h>

#include "tensors.h"

enum {
    PADDING_MAX = 1 << 16
}; // so that extents never overflow

kw_status serve_float_check(const kw_tensor *tensor, uint32_t dim, const char *name)
{
    if (kw_tensor_dtype(tensor) != KW_DTYPE_FLOAT32 || !kw_tensor_is_on(tensor, KW_DEVICE_CPU) ||
        kw_tensor_dim(tensor) != dim || !kw_tensor_is_contiguous(tensor)) {
        return kw_fail(KW_WRONG_VALUE,
                       "%s is not a contiguous float32 tensor of the CPU with %u dimensions", name,
                       (unsigned)dim);
    }
    return KW_OK;
}

kw_status serve_weights_check(const kw_tensor *weight, uint32_t dim, const kw_tensor *bias)
{
    const kw_status status = serve_float_check(weight, dim, "weight");
    return status == KW_OK && bias != NULL ? serve_float_check(bias, 1, "bias") : status;
}

// Describing --------------------------------------------------------------------------------------

static size_t extent(const kw_tensor *tensor, uint32_t index)
{
    return (size_t)kw_tensor_sizes(tensor)[index];
}

static kw_status need_dim(const kw_tensor *tensor, uint32_t dim, const char *name)
{
    if (kw_tensor_dim(tensor) != dim) {
        return kw_fail(KW_WRONG_VALUE, "%s has %u dimensions, not %u", name,
                       (unsigned)kw_tensor_dim(tensor), (unsigned)dim);
    }
    return KW_OK;
}

// A bias that is there has as many elements as the weight has rows.
static kw_status need_bias(const kw_tensor *bias, int64_t count)
{
    const kw_status status = bias != NULL ? need_dim(bias, 1, "bias") : KW_OK;
    if (status == KW_OK && bias != NULL && kw_tensor_numel(bias) != count) {
        return kw_fail(KW_WRONG_VALUE, "bias has %lld elements, weight %lld rows",
                       (long long)kw_tensor_numel(bias), (long long)count);
    }
    return status;
}

kw_status serve_conv2d_describe(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                                int64_t padding, fashion_conv2d_shape *out_shape)
{
    kw_status status = need_dim(x, 4, "x");
    if (status == KW_OK) {
        status = need_dim(weight, 4, "weight");
    }
    if (status == KW_OK) {
        status = need_bias(bias, kw_tensor_sizes(weight)[0]);
    }
    if (status != KW_OK) {
        return status;
    }
    if (extent(x, 1) != extent(weight, 1) || padding < 0 || padding > PADDING_MAX) {
        return kw_fail(KW_WRONG_VALUE, "x has %zu channels, weight %zu, padding is %lld",
                       extent(x, 1), extent(weight, 1), (long long)padding);
    }
    *out_shape = (fashion_conv2d_shape){
        .batch = extent(x, 0),
        .in_channels = extent(x, 1),
        .height = extent(x, 2),
        .width = extent(x, 3),
        .out_channels = extent(weight, 0),
        .kernel_height = extent(weight, 2),
        .kernel_width = extent(weight, 3),
        .padding = (size_t)padding,
    };
    return KW_OK;
}

kw_status serve_max_pool2d_describe(const kw_tensor *x, int64_t size,
                                    fashion_pool2d_shape *out_shape)
{
    const kw_status status = need_dim(x, 4, "x");
    if (status != KW_OK) {
        return status;
    }
    if (size < 1) {
        return kw_fail(KW_WRONG_VALUE, "a window of %lld is none", (long long)size);
    }
    *out_shape = (fashion_pool2d_shape){
        .planes = extent(x, 0) * extent(x, 1),
        .height = extent(x, 2),
        .width = extent(x, 3),
        .kernel = (size_t)size,
        .stride = (size_t)size,
    };
    return KW_OK;
}

kw_status serve_linear_describe(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                                serve_linear_shape *out_shape)
{
    kw_status status = need_dim(weight, 2, "weight");
    if (status == KW_OK) {
        status = need_bias(bias, kw_tensor_sizes(weight)[0]);
    }
    if (status != KW_OK) {
        return status;
    }
    const size_t rows = kw_tensor_dim(x) > 0 ? extent(x, 0) : 0;
    if (rows == 0 || (size_t)kw_tensor_numel(x) / rows != extent(weight, 1)) {
        return kw_fail(KW_WRONG_VALUE, "x has no %zu columns, as weight has", extent(weight, 1));
    }
    *out_shape = (serve_linear_shape){
        .rows = rows,
        .columns = extent(weight, 1),
        .out_columns = extent(weight, 0),
    };
    return KW_OK;
}

kw_status serve_softmax_describe(const kw_tensor *x, int64_t dim, size_t *out_rows,
                                 size_t *out_columns)
{
    const kw_status status = need_dim(x, 2, "x");
    if (status != KW_OK) {
        return status;
    }
    if (dim != 1 && dim != -1) {
        return kw_fail(KW_NOT_SUPPORTED, "softmax goes along the last dimension only");
    }
    *out_rows = extent(x, 0);
    *out_columns = extent(x, 1);
    return KW_OK;
}

// Checking ----------------------------------------------------------------------------------------

kw_status serve_conv2d_check(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                             int64_t padding, fashion_conv2d_shape *out_shape)
{
    kw_status status = KW_OK;
    if ((status = serve_float_check(x, 4, "x")) != KW_OK ||
        (status = serve_weights_check(weight, 4, bias)) != KW_OK) {
        return status;
    }
    return serve_conv2d_describe(x, weight, bias, padding, out_shape);
}

kw_status serve_max_pool2d_check(const kw_tensor *x, int64_t size, fashion_pool2d_shape *out_shape)
{
    const kw_status status = serve_float_check(x, 4, "x");
    return status == KW_OK ? serve_max_pool2d_describe(x, size, out_shape) : status;
}

kw_status serve_linear_check(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                             serve_linear_shape *out_shape)
{
    kw_status status = KW_OK;
    if ((status = serve_float_check(x, kw_tensor_dim(x), "x")) != KW_OK ||
        (status = serve_weights_check(weight, 2, bias)) != KW_OK) {
        return status;
    }
    return serve_linear_describe(x, weight, bias, out_shape);
}

// Results -----------------------------------------------------------------------------------------

void serve_conv2d_sizes(const fashion_conv2d_shape *shape, int64_t out_sizes[4])
{
    out_sizes[0] = (int64_t)shape->batch;
    out_sizes[1] = (int64_t)shape->out_channels;
    out_sizes[2] = (int64_t)fashion_conv2d_out_height(shape);
    out_sizes[3] = (int64_t)fashion_conv2d_out_width(shape);
}

void serve_max_pool2d_sizes(const kw_tensor *x, const fashion_pool2d_shape *shape,
                            int64_t out_sizes[4])
{
    out_sizes[0] = kw_tensor_sizes(x)[0];
    out_sizes[1] = kw_tensor_sizes(x)[1];
    out_sizes[2] = (int64_t)fashion_pool2d_out_height(shape);
    out_sizes[3] = (int64_t)fashion_pool2d_out_width(shape);
}

kw_status serve_result_create(uint32_t dim, const int64_t *sizes, kw_tensor **out_tensor,
                              float **out_values)
{
    kw_error err = KW_ERROR_INIT;
    const kw_status status = serve_tensor_create(dim, sizes, out_tensor, out_values, &err);
    return status == KW_OK ? KW_OK : kw_fail(status, "%s", err.text);
}

kw_status serve_conv2d_result(const fashion_conv2d_shape *shape, kw_tensor **out_tensor,
                              float **out_values)
{
    int64_t sizes[4];
    serve_conv2d_sizes(shape, sizes);
    return serve_result_create(4, sizes, out_tensor, out_values);
}

kw_status serve_linear_result(const serve_linear_shape *shape, kw_tensor **out_tensor,
                              float **out_values)
{
    const int64_t sizes[] = {(int64_t)shape->rows, (int64_t)shape->out_columns};
    return serve_result_create(2, sizes, out_tensor, out_values);
}

// Preparing ---------------------------------------------------------------------------------------

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
kw_status serve_conv2d_prepare(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                               int64_t padding, fashion_conv2d_shape *out_shape,
                               kw_tensor **out_tensor, float **out_values)
{
    const kw_status status = serve_conv2d_check(x, weight, bias, padding, out_shape);
    return status == KW_OK ? serve_conv2d_result(out_shape, out_tensor, out_values) : status;
}

kw_status serve_relu_prepare(const kw_tensor *x, kw_tensor **out_tensor, float **out_values)
{
    const uint32_t dim = kw_tensor_dim(x);
    const kw_status status = serve_float_check(x, dim, "x");
    return status == KW_OK ? serve_result_create(dim, kw_tensor_sizes(x), out_tensor, out_values)
                           : status;
}

kw_status serve_max_pool2d_prepare(const kw_tensor *x, int64_t size,
                                   fashion_pool2d_shape *out_shape, kw_tensor **out_tensor,
                                   float **out_values)
{
    const kw_status status = serve_max_pool2d_check(x, size, out_shape);
    if (status != KW_OK) {
        return status;
    }
    int64_t sizes[4];
    serve_max_pool2d_sizes(x, out_shape, sizes);
    return serve_result_create(4, sizes, out_tensor, out_values);
}

kw_status serve_linear_prepare(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                               serve_linear_shape *out_shape, kw_tensor **out_tensor,
                               float **out_values)
{
    const kw_status status = serve_linear_check(x, weight, bias, out_shape);
    return status == KW_OK ? serve_linear_result(out_shape, out_tensor, out_values) : status;
}

kw_status serve_softmax_prepare(const kw_tensor *x, int64_t dim, size_t *out_rows,
                                size_t *out_columns, kw_tensor **out_tensor, float **out_values)
{
    kw_status status = KW_OK;
    if ((status = serve_float_check(x, 2, "x")) != KW_OK ||
        (status = serve_softmax_describe(x, dim, out_rows, out_columns)) != KW_OK) {
        return status;
    }
    return serve_result_create(2, kw_tensor_sizes(x), out_tensor, out_values);
}
