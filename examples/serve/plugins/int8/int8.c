// The plugin int8: conv2d and linear with quantised weights, under the key QuantizedCPU.
//
// Layer:   example (uses the generated nn.h, quantize, int8_math, weight_cache)
// Threads: any
// SPDX-License-Identifier: MIT
//
// Two layers for each operator. The kernel of the key CPU exchanges the weight for its quantised
// form, made once, and goes on in the same call with the key that this tensor has. The kernel of
// QuantizedCPU quantises the activations, each image and each row by itself, so that an answer does
// not depend on what else is in the batch; it answers with float32. Who has a quantised weight and
// calls with it arrives there directly.

#include <nn.h>
#include <stdlib.h>

#include <keyway/plugin_api.h>

#include "int8_math.h"
#include "layers.h"
#include "plugins/support/descriptor.h"
#include "plugins/support/weight_cache.h"
#include "quantize.h"
#include "tensors.h"

static serve_cache weights; // guard: immutable, but for what is in it

// Only the key is added: a fresh call would join the thread's include set again, and go wherever
// that leads.
static kw_keyset quantized_keys(kw_keyset keys)
{
    return kw_keyset_add(keys, KW_KEY_QuantizedCPU);
}

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status conv2d_cpu(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                            kw_tensor *bias, int64_t padding, kw_tensor **out_0)
{
    kw_tensor *quantized = NULL;
    kw_status status =
        serve_weight_cache_get(&weights, weight, serve_int8_weight_create, &quantized);
    if (status == KW_OK) {
        status = nn_conv2d_redispatch_on(self->op, quantized_keys(keys), x, quantized, bias,
                                         padding, out_0);
        kw_tensor_release(quantized);
    }
    return status;
}

static kw_status linear_cpu(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                            kw_tensor *bias, kw_tensor **out_0)
{
    kw_tensor *quantized = NULL;
    kw_status status =
        serve_weight_cache_get(&weights, weight, serve_int8_weight_create, &quantized);
    if (status == KW_OK) {
        status = nn_linear_redispatch_on(self->op, quantized_keys(keys), x, quantized, bias, out_0);
        kw_tensor_release(quantized);
    }
    return status;
}

// What a quantised kernel reads: tensors of the CPU, and the activations quantised.
typedef struct inputs {
    kw_tensor *x;
    kw_tensor *bias; // NULL: none
    int8_t *values;  // of x
    float *scales;   // one for each row of x
} inputs;

static void inputs_fini(inputs *in)
{
    kw_tensor_release(in->x);
    kw_tensor_release(in->bias);
    free(in->values);
    free(in->scales);
}

// `*out_near` is NULL for NULL.
static kw_status bring(kw_tensor *tensor, const char *name, kw_tensor **out_near)
{
    kw_error err = KW_ERROR_INIT;
    if (tensor == NULL) {
        return KW_OK;
    }
    if (kw_tensor_dtype(tensor) != KW_DTYPE_FLOAT32) {
        return kw_fail(KW_WRONG_VALUE, "%s has no float32 elements", name);
    }
    const kw_status status = serve_tensor_move(tensor, KW_DEVICE_CPU, out_near, &err);
    return status == KW_OK ? KW_OK : kw_fail(status, "%s", err.text);
}

static kw_status inputs_init(inputs *out_in, kw_tensor *x, kw_tensor *bias, size_t rows)
{
    inputs in = {.x = NULL};
    kw_status status = bring(x, "x", &in.x);
    if (status == KW_OK) {
        status = bring(bias, "bias", &in.bias);
    }
    if (status == KW_OK) {
        const size_t count = (size_t)kw_tensor_numel(x);
        in.values = malloc(count + 1); // never of size 0
        in.scales = calloc(rows + 1, sizeof in.scales[0]);
        if (in.values == NULL || in.scales == NULL) {
            status = kw_fail(KW_NO_MEMORY, "no memory to quantise %zu numbers", count);
        } else if (!serve_int8_quantize(rows, rows > 0 ? count / rows : 0,
                                        serve_tensor_values(in.x), in.values, in.scales)) {
            status = kw_fail(KW_WRONG_VALUE, "x has elements that are not finite");
        }
    }
    if (status != KW_OK) {
        inputs_fini(&in);
        return status;
    }
    *out_in = in;
    return KW_OK;
}

static kw_status convolve(const fashion_conv2d_shape *shape, const inputs *in,
                          const serve_int8_weight *weight, kw_tensor **out_0)
{
    const size_t in_count = shape->in_channels * shape->height * shape->width;
    const size_t out_count =
        shape->out_channels * fashion_conv2d_out_height(shape) * fashion_conv2d_out_width(shape);
    int8_t *scratch = malloc(serve_int8_conv2d_scratch_bytes(shape) + 1);
    float *y = NULL;
    const kw_status status = scratch != NULL
                                 ? serve_conv2d_result(shape, out_0, &y)
                                 : kw_fail(KW_NO_MEMORY, "no memory for an image's patches");
    for (size_t i = 0; i < shape->batch && status == KW_OK && out_count > 0; i++) {
        serve_int8_conv2d_image(shape, in->values + i * in_count, in->scales[i], weight, scratch,
                                y + i * out_count);
    }
    free(scratch);
    return status;
}

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status conv2d_quantized(const kw_kernel *self, kw_keyset keys, kw_tensor *x,
                                  kw_tensor *weight, kw_tensor *bias, int64_t padding,
                                  kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    fashion_conv2d_shape shape;
    serve_int8_weight quantized;
    inputs in;
    kw_status status = KW_OK;
    if ((status = serve_conv2d_describe(x, weight, bias, padding, &shape)) != KW_OK ||
        (status = serve_int8_weight_read(weight, &quantized)) != KW_OK ||
        (status = inputs_init(&in, x, bias, shape.batch)) != KW_OK) {
        return status;
    }
    quantized.bias = serve_tensor_values(in.bias);
    status = convolve(&shape, &in, &quantized, out_0);
    inputs_fini(&in);
    return status;
}

static kw_status linear_quantized(const kw_kernel *self, kw_keyset keys, kw_tensor *x,
                                  kw_tensor *weight, kw_tensor *bias, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    serve_linear_shape shape;
    serve_int8_weight quantized;
    inputs in;
    kw_status status = KW_OK;
    if ((status = serve_linear_describe(x, weight, bias, &shape)) != KW_OK ||
        (status = serve_int8_weight_read(weight, &quantized)) != KW_OK ||
        (status = inputs_init(&in, x, bias, shape.rows)) != KW_OK) {
        return status;
    }
    quantized.bias = serve_tensor_values(in.bias);
    float *y = NULL;
    status = serve_linear_result(&shape, out_0, &y);
    for (size_t i = 0; i < shape.rows && status == KW_OK; i++) {
        serve_int8_linear_row(shape.columns, shape.out_columns, in.values + i * shape.columns,
                              in.scales[i], &quantized, y + i * shape.out_columns);
    }
    inputs_fini(&in);
    return status;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api;
    kw_status status = serve_weight_cache_init(&weights, err);
    if (status != KW_OK) {
        return status;
    }
    if ((status = nn_conv2d_impl(tx, library, KW_KEY_CPU, conv2d_cpu)) != KW_OK ||
        (status = nn_linear_impl(tx, library, KW_KEY_CPU, linear_cpu)) != KW_OK ||
        (status = nn_conv2d_impl(tx, library, KW_KEY_QuantizedCPU, conv2d_quantized)) != KW_OK ||
        (status = nn_linear_impl(tx, library, KW_KEY_QuantizedCPU, linear_quantized)) != KW_OK) {
        *err = *kw_transaction_error(tx);
        serve_cache_fini(&weights);
    }
    return status;
}

static kw_status stop(kw_error *err)
{
    (void)err;
    serve_cache_fini(&weights);
    return KW_OK;
}

KW_PLUGIN = SERVE_PLUGIN("nn", "int8", "1.0", start, stop);
