// Kernels: the five operators under the key CPU, by oneDNN.
//
// Layer:   example (uses the generated nn.h, operation)
// Threads: any
// SPDX-License-Identifier: MIT
//
// They take contiguous float32 tensors of the CPU and say so of anything else. What has no elements
// never reaches oneDNN: it takes a tensor without elements for nothing to do, and would leave a
// result as it is where a sum over nothing is meant.

#include "kernels.h"

#include <nn.h>
#include <string.h>

#include <keyway/call.h>

#include "layers.h"
#include "operation.h"
#include "staging.h"

static void copy_sizes(int64_t *out_sizes, const kw_tensor *tensor)
{
    memcpy(out_sizes, kw_tensor_sizes(tensor), kw_tensor_dim(tensor) * sizeof out_sizes[0]);
}

typedef struct operands {
    const kw_tensor *x;
    const kw_tensor *weight; // NULL: none
    const kw_tensor *bias;   // NULL: none
} operands;

// Makes the result and has it computed. The operands fit the shape.
static kw_status answer(const onednn_shape *shape, uint32_t dim, const int64_t *sizes, operands of,
                        kw_tensor **out_0)
{
    kw_tensor *result = NULL;
    float *y = NULL;
    kw_status status = serve_result_create(dim, sizes, &result, &y);
    if (status != KW_OK) {
        return status;
    }
    if (kw_tensor_numel(result) != 0) {
        status =
            kw_tensor_numel(of.x) != 0 && (of.weight == NULL || kw_tensor_numel(of.weight) != 0)
                ? onednn_operation_run(shape, of.x, of.weight, of.bias, y)
                : kw_fail(KW_NOT_SUPPORTED, "oneDNN makes no sums without terms");
    }
    if (status != KW_OK) {
        kw_tensor_release(result);
        return status;
    }
    *out_0 = result;
    return KW_OK;
}

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status conv2d(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, int64_t padding, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    fashion_conv2d_shape described;
    const kw_status status = serve_conv2d_check(x, weight, bias, padding, &described);
    if (status != KW_OK) {
        return status;
    }
    onednn_shape shape = {
        .op = ONEDNN_CONV2D,
        .padding = padding,
        .has_bias = bias != NULL ? 1 : 0,
    };
    copy_sizes(shape.source, x);
    copy_sizes(shape.weight, weight);
    serve_conv2d_sizes(&described, shape.result);
    return answer(&shape, 4, shape.result, (operands){x, weight, bias}, out_0);
}

static kw_status relu(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    const kw_status status = serve_float_check(x, kw_tensor_dim(x), "x");
    if (status != KW_OK) {
        return status;
    }
    const onednn_shape shape = {.op = ONEDNN_RELU, .source = {kw_tensor_numel(x)}};
    return answer(&shape, kw_tensor_dim(x), kw_tensor_sizes(x), (operands){.x = x}, out_0);
}

static kw_status max_pool2d(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t size,
                            kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    fashion_pool2d_shape described;
    const kw_status status = serve_max_pool2d_check(x, size, &described);
    if (status != KW_OK) {
        return status;
    }
    onednn_shape shape = {.op = ONEDNN_MAX_POOL2D, .window = size};
    copy_sizes(shape.source, x);
    serve_max_pool2d_sizes(x, &described, shape.result);
    return answer(&shape, 4, shape.result, (operands){.x = x}, out_0);
}

static kw_status linear(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    serve_linear_shape described;
    const kw_status status = serve_linear_check(x, weight, bias, &described);
    if (status != KW_OK) {
        return status;
    }
    onednn_shape shape = {
        .op = ONEDNN_LINEAR,
        .source = {(int64_t)described.rows, (int64_t)described.columns},
        .result = {(int64_t)described.rows, (int64_t)described.out_columns},
        .has_bias = bias != NULL ? 1 : 0,
    };
    copy_sizes(shape.weight, weight);
    return answer(&shape, 2, shape.result, (operands){x, weight, bias}, out_0);
}

static kw_status softmax(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t dim,
                         kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    size_t rows = 0;
    size_t columns = 0;
    kw_status status = serve_float_check(x, kw_tensor_dim(x), "x");
    if (status == KW_OK) {
        status = serve_softmax_describe(x, dim, &rows, &columns);
    }
    if (status != KW_OK) {
        return status;
    }
    const onednn_shape shape = {
        .op = ONEDNN_SOFTMAX,
        .source = {(int64_t)rows, (int64_t)columns},
    };
    return answer(&shape, 2, shape.source, (operands){.x = x}, out_0);
}

kw_status onednn_kernels_stage(kw_transaction *tx, kw_library *library)
{
    return SERVE_KERNELS_STAGE(tx, library, KW_KEY_CPU) ? KW_OK : kw_transaction_error(tx)->status;
}
