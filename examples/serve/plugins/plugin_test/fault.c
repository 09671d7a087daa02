// Plugins with a fault each, by which the test of the plugins shows that it finds it.
//
// Layer:   example (uses the generated nn.h, fashion/math_plain.h)
// Threads: any, but for what is wrong on purpose
// SPDX-License-Identifier: MIT
//
// One of the macros FAULT_<NAME> says which. A plugin without a fault, FAULT_NONE, is one of them.

#include <fashion/math_plain.h>
#include <nn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <keyway/inline/call.h>
#include <keyway/lease.h>
#include <keyway/plugin_api.h>

#include "layers.h"
#include "plugins/support/descriptor.h"
#include "tensors.h"

#ifdef FAULT_STALE // keeps the values of weights by address, which another tensor may get
enum {
    CACHE_MAX = 64
};
static struct {
    const kw_tensor *tensor;
    int64_t count;
    float *values;
} cache[CACHE_MAX];
static size_t cache_count;

static const float *values_of(const kw_tensor *weight)
{
    const int64_t count = kw_tensor_numel(weight);
    for (size_t i = 0; i < cache_count; i++) {
        if (cache[i].tensor == weight && cache[i].count == count) {
            return cache[i].values;
        }
    }
    float *values = cache_count < CACHE_MAX ? malloc((size_t)count * sizeof *values) : NULL;
    if (values == NULL) {
        return serve_tensor_values(weight);
    }
    memcpy(values, kw_tensor_data(weight), (size_t)count * sizeof *values);
    cache[cache_count].tensor = weight;
    cache[cache_count].count = count;
    cache[cache_count].values = values;
    return cache[cache_count++].values;
}
#else
static const float *values_of(const kw_tensor *weight)
{
    return serve_tensor_values(weight);
}
#endif

static kw_status stop(kw_error *err)
{
    (void)err;
#ifdef FAULT_STALE
    for (size_t i = 0; i < cache_count; i++) {
        free(cache[i].values);
    }
#endif
    return KW_OK;
}

static kw_status check(kw_tensor *x)
{
#ifdef FAULT_STRIDES // takes every layout for the plain one
    (void)x;
    return KW_OK;
#else
    return serve_float_check(x, 4, "x");
#endif
}

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status conv2d(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, int64_t padding, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    fashion_conv2d_shape shape;
    float *y = NULL;
    kw_status status = KW_OK;
    if ((status = check(x)) == KW_OK &&
        (status = serve_conv2d_describe(x, weight, bias, padding, &shape)) == KW_OK &&
        (status = serve_conv2d_result(&shape, out_0, &y)) == KW_OK) {
        fashion_plain_conv2d(&shape, serve_tensor_values(x), values_of(weight),
                             serve_tensor_values(bias), y);
    }
    return status;
}

#ifdef FAULT_RARE
static atomic_uint call_count;
#endif

static void spoil(size_t rows, size_t columns, float *y)
{
    (void)rows;
    (void)columns;
    (void)y;
#ifdef FAULT_OFF
    y[columns / 2] += 0.002F;
#endif
#ifdef FAULT_RARE // classes change places in one call of five
    if (columns == 10 && atomic_fetch_add(&call_count, 1) % 5 == 4) {
        const float first = y[0];
        memmove(y, y + 1, 9 * sizeof *y);
        y[9] = first;
    }
#endif
}

static kw_status linear(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    serve_linear_shape shape;
    kw_status status = serve_linear_describe(x, weight, bias, &shape);
    if (status != KW_OK) {
        return status;
    }
    float *y = NULL;
    status = serve_linear_result(&shape, out_0, &y);
    if (status == KW_OK) {
        fashion_plain_linear(shape.rows, shape.columns, shape.out_columns, serve_tensor_values(x),
                             serve_tensor_values(weight), serve_tensor_values(bias), y);
        spoil(shape.rows, shape.out_columns, y);
    }
#ifdef FAULT_TENSOR
    kw_tensor_retain(x);
#endif
#ifdef FAULT_SCRATCH
    static _Atomic(void *) lost; // a place that others see, so that no compiler leaves it out
    atomic_store(&lost, malloc(32768));
#endif
    return status;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api;
    kw_status status = KW_OK;
#ifdef FAULT_LEASE // which nobody ends
    kw_lease *lease = NULL;
    status = kw_lease_begin(library, "a thing that stays", &lease, err);
#endif
    if (status == KW_OK && ((status = nn_conv2d_impl(tx, library, KW_KEY_CPU, conv2d)) != KW_OK ||
                            (status = nn_linear_impl(tx, library, KW_KEY_CPU, linear)) != KW_OK)) {
        *err = *kw_transaction_error(tx);
    }
    return status;
}

KW_PLUGIN = SERVE_PLUGIN("nn", FAULT_NAME, "1.0", start, stop);
