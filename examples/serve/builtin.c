// Built-in library: the definitions, and a kernel for each in plain C that is always there.
//
// Layer:   example (uses the generated nn.h, fashion/math_plain.h)
// Threads: any; the kernels have no state
// SPDX-License-Identifier: MIT

#include "builtin.h"

#include <nn.h>

#include <keyway/call.h>

#include "layers.h"
#include "staging.h"
#include "tensors.h"

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status conv2d(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, int64_t padding, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    fashion_conv2d_shape shape;
    float *y = NULL;
    const kw_status status = serve_conv2d_prepare(x, weight, bias, padding, &shape, out_0, &y);
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
    float *y = NULL;
    const kw_status status = serve_relu_prepare(x, out_0, &y);
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
    fashion_pool2d_shape shape;
    float *y = NULL;
    const kw_status status = serve_max_pool2d_prepare(x, size, &shape, out_0, &y);
    if (status == KW_OK) {
        fashion_plain_max_pool2d(&shape, serve_tensor_values(x), y);
    }
    return status;
}

static kw_status linear(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    serve_linear_shape shape;
    float *y = NULL;
    const kw_status status = serve_linear_prepare(x, weight, bias, &shape, out_0, &y);
    if (status == KW_OK) {
        fashion_plain_linear(shape.rows, shape.columns, shape.out_columns, serve_tensor_values(x),
                             serve_tensor_values(weight), serve_tensor_values(bias), y);
    }
    return status;
}

static kw_status softmax(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t dim,
                         kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    size_t rows = 0;
    size_t columns = 0;
    float *y = NULL;
    const kw_status status = serve_softmax_prepare(x, dim, &rows, &columns, out_0, &y);
    if (status == KW_OK) {
        fashion_plain_softmax(rows, columns, serve_tensor_values(x), y);
    }
    return status;
}

static kw_status stage(kw_transaction *tx, kw_library *library, kw_error *err)
{
    kw_status status = nn_define(tx, library, err);
    if (status != KW_OK) {
        return status;
    }
    if (!SERVE_KERNELS_STAGE(tx, library, KW_KEY_CPU)) {
        *err = *kw_transaction_error(tx);
        return err->status;
    }
    return KW_OK;
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
