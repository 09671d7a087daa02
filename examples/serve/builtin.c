// Built-in library: the definitions, and a kernel for each in plain C that is always there.
//
// Layer:   example (uses the generated nn.h, fashion/math_plain.h)
// Threads: any; the kernels have no state
// SPDX-License-Identifier: MIT

#include "builtin.h"

#include <fashion/math_plain.h>
#include <nn.h>
#include <string.h>

#include <keyway/call.h>

#include "tensors.h"

static kw_status need(const kw_tensor *tensor, uint32_t dim, const char *name)
{
    if (kw_tensor_dtype(tensor) != KW_DTYPE_FLOAT32 || kw_tensor_dim(tensor) != dim ||
        !kw_tensor_is_contiguous(tensor)) {
        return kw_fail(KW_WRONG_VALUE, "%s is not a contiguous float32 tensor of %u dimensions",
                       name, (unsigned)dim);
    }
    return KW_OK;
}

// A bias that is there has as many elements as the weight has rows.
static kw_status need_bias(const kw_tensor *bias, int64_t count)
{
    const kw_status status = bias != NULL ? need(bias, 1, "bias") : KW_OK;
    if (status == KW_OK && bias != NULL && kw_tensor_numel(bias) != count) {
        return kw_fail(KW_WRONG_VALUE, "bias has %lld elements, weight %lld rows",
                       (long long)kw_tensor_numel(bias), (long long)count);
    }
    return status;
}

static kw_status make(uint32_t dim, const int64_t *sizes, kw_tensor **out_tensor,
                      float **out_values)
{
    kw_error err = KW_ERROR_INIT;
    const kw_status status = serve_tensor_create(dim, sizes, out_tensor, out_values, &err);
    return status == KW_OK ? KW_OK : kw_fail(status, "%s", err.text);
}

static size_t extent(const kw_tensor *tensor, uint32_t index)
{
    return (size_t)kw_tensor_sizes(tensor)[index];
}

static kw_status conv2d_shape(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                              int64_t padding, fashion_conv2d_shape *out_shape)
{
    kw_status status = need(x, 4, "x");
    if (status == KW_OK) {
        status = need(weight, 4, "weight");
    }
    if (status == KW_OK) {
        status = need_bias(bias, kw_tensor_sizes(weight)[0]);
    }
    if (status != KW_OK) {
        return status;
    }
    if (extent(x, 1) != extent(weight, 1) || padding < 0 || padding > 1 << 16) {
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

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status conv2d(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, int64_t padding, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    fashion_conv2d_shape shape;
    kw_status status = conv2d_shape(x, weight, bias, padding, &shape);
    if (status != KW_OK) {
        return status;
    }
    const int64_t sizes[] = {kw_tensor_sizes(x)[0], kw_tensor_sizes(weight)[0],
                             (int64_t)fashion_conv2d_out_height(&shape),
                             (int64_t)fashion_conv2d_out_width(&shape)};
    float *y = NULL;
    status = make(4, sizes, out_0, &y);
    if (status == KW_OK) {
        fashion_plain_conv2d(&shape, serve_tensor_values(x), serve_tensor_values(weight),
                             serve_tensor_values(bias), y);
    }
    return status;
}

static kw_status relu(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_status status = need(x, kw_tensor_dim(x), "x");
    float *y = NULL;
    if (status == KW_OK) {
        status = make(kw_tensor_dim(x), kw_tensor_sizes(x), out_0, &y);
    }
    if (status == KW_OK) {
        fashion_plain_relu((size_t)kw_tensor_numel(x), serve_tensor_values(x), y);
    }
    return status;
}

static kw_status max_pool2d(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t size,
                            kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_status status = need(x, 4, "x");
    if (status != KW_OK) {
        return status;
    }
    if (size < 1) {
        return kw_fail(KW_WRONG_VALUE, "a window of %lld is none", (long long)size);
    }
    const fashion_pool2d_shape shape = {
        .planes = extent(x, 0) * extent(x, 1),
        .height = extent(x, 2),
        .width = extent(x, 3),
        .kernel = (size_t)size,
        .stride = (size_t)size,
    };
    const int64_t sizes[] = {kw_tensor_sizes(x)[0], kw_tensor_sizes(x)[1],
                             (int64_t)fashion_pool2d_out_height(&shape),
                             (int64_t)fashion_pool2d_out_width(&shape)};
    float *y = NULL;
    status = make(4, sizes, out_0, &y);
    if (status == KW_OK) {
        fashion_plain_max_pool2d(&shape, serve_tensor_values(x), y);
    }
    return status;
}

// What is behind the first extent counts as columns.
static kw_status linear_columns(const kw_tensor *x, const kw_tensor *weight, size_t *out_columns)
{
    kw_status status = need(x, kw_tensor_dim(x), "x");
    if (status == KW_OK) {
        status = need(weight, 2, "weight");
    }
    if (status != KW_OK) {
        return status;
    }
    const size_t rows = kw_tensor_dim(x) > 0 ? extent(x, 0) : 0;
    if (rows == 0 || (size_t)kw_tensor_numel(x) / rows != extent(weight, 1)) {
        return kw_fail(KW_WRONG_VALUE, "x has no %zu columns, as weight has", extent(weight, 1));
    }
    *out_columns = extent(weight, 1);
    return KW_OK;
}

static kw_status linear(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    size_t columns = 0;
    kw_status status = linear_columns(x, weight, &columns);
    if (status == KW_OK) {
        status = need_bias(bias, kw_tensor_sizes(weight)[0]);
    }
    if (status != KW_OK) {
        return status;
    }
    const int64_t sizes[] = {kw_tensor_sizes(x)[0], kw_tensor_sizes(weight)[0]};
    float *y = NULL;
    status = make(2, sizes, out_0, &y);
    if (status == KW_OK) {
        fashion_plain_linear(extent(x, 0), columns, extent(weight, 0), serve_tensor_values(x),
                             serve_tensor_values(weight), serve_tensor_values(bias), y);
    }
    return status;
}

static kw_status softmax(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t dim,
                         kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_status status = need(x, 2, "x");
    if (status == KW_OK && dim != 1 && dim != -1) {
        status = kw_fail(KW_NOT_SUPPORTED, "softmax goes along the last dimension only");
    }
    float *y = NULL;
    if (status == KW_OK) {
        status = make(2, kw_tensor_sizes(x), out_0, &y);
    }
    if (status == KW_OK) {
        fashion_plain_softmax(extent(x, 0), extent(x, 1), serve_tensor_values(x), y);
    }
    return status;
}

static kw_status stage(kw_transaction *tx, kw_library *library, kw_error *err)
{
    kw_status status = nn_define(tx, library, err);
    if (status != KW_OK) {
        return status;
    }
    if ((status = nn_conv2d_impl(tx, library, KW_KEY_CPU, conv2d)) != KW_OK ||
        (status = nn_relu_impl(tx, library, KW_KEY_CPU, relu)) != KW_OK ||
        (status = nn_max_pool2d_impl(tx, library, KW_KEY_CPU, max_pool2d)) != KW_OK ||
        (status = nn_linear_impl(tx, library, KW_KEY_CPU, linear)) != KW_OK ||
        (status = nn_softmax_impl(tx, library, KW_KEY_CPU, softmax)) != KW_OK) {
        *err = *kw_transaction_error(tx);
    }
    return status;
}

kw_status serve_builtin_create(kw_dispatcher *dispatcher, kw_library **out_library, kw_error *err)
{
    const kw_library_options options = {
        .struct_size = sizeof options,
        .dispatcher = dispatcher,
        .name = "builtin",
        .ns = "nn",
        .tensor_type = kw_tensor_reference_type(),
    };
    kw_library *library = NULL;
    kw_status status = kw_library_create(&options, &library, err);
    if (status != KW_OK) {
        return status;
    }
    kw_transaction *tx = NULL;
    status = kw_transaction_begin(dispatcher, &tx, err);
    if (status == KW_OK) {
        status = stage(tx, library, err);
        if (status == KW_OK) {
            status = kw_transaction_commit(tx, NULL, NULL, err);
        } else {
            kw_transaction_abort(tx);
        }
    }
    if (status != KW_OK) {
        kw_error ignored = KW_ERROR_INIT; // `err` has what matters
        (void)serve_builtin_destroy(library, &ignored);
        return status;
    }
    *out_library = library;
    return KW_OK;
}

kw_status serve_builtin_destroy(kw_library *take_library, kw_error *err)
{
    if (take_library == NULL) {
        return KW_OK;
    }
    kw_status status = kw_library_close(take_library, err);
    if (status == KW_OK) {
        status = kw_library_drain(take_library, UINT64_C(5000000000), err);
    }
    return status == KW_OK ? kw_library_destroy(take_library, err) : status;
}
