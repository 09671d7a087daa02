// The plugin `reference`: a kernel in plain C for each operator. The one to copy for a plugin of
// one's own.
//
// Layer:   example (uses the generated nn.h, layers.h)
// Threads: any; the kernels have no state
// SPDX-License-Identifier: MIT
//
// Each kernel has its arguments checked and described and its result made, as layers.h says, and
// leaves the rest to a function that knows nothing of Keyway. What it cannot take it answers with a
// sentence.

#include <nn.h>

#include <keyway/inline/call.h>
#include <keyway/plugin_api.h>

#include "layers.h"
#include "plugins/support/descriptor.h"
#include "reference_math.h"
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
        reference_conv2d(&shape, serve_tensor_values(x), serve_tensor_values(weight),
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
        reference_relu((size_t)kw_tensor_numel(x), serve_tensor_values(x), y);
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
        reference_max_pool2d(&shape, serve_tensor_values(x), y);
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
        reference_linear(&shape, serve_tensor_values(x), serve_tensor_values(weight),
                         serve_tensor_values(bias), y);
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
        reference_softmax(rows, columns, serve_tensor_values(x), y);
    }
    return status;
}

// Everything that is staged here becomes visible in one commit, which the host makes.
static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api; // a linked plugin calls the functions by their names
    if (!SERVE_KERNELS_STAGE(tx, library, KW_KEY_CPU)) {
        *err = *kw_transaction_error(tx);
        return err->status;
    }
    return KW_OK;
}

KW_PLUGIN = SERVE_PLUGIN("nn", "reference", "1.0", start, NULL);
