// Operation: runs XNNPACK's operators, which are made once and shared.
//
// Layer:   example (uses XNNPACK, pool, support/cache)
// Threads: any, but for start and stop
// SPDX-License-Identifier: MIT

#include "operation.h"

#include <math.h>
#include <stdlib.h>
#include <xnnpack.h>

#include <keyway/call.h>

#include "plugins/support/cache.h"
#include "pool.h"
#include "tensors.h"

enum {
    POOLS_MAX = 64
};

enum {
    CONV2D = 0,
    RELU = 1,
    MAX_POOL2D = 2,
    LINEAR = 3
};

// What an operator depends on. Batch, height and width come with each run. No padding: the bytes
// are the key of the cache.
typedef struct operator_key {
    int64_t op;
    int64_t sizes[4]; // of the weight; or max_pool2d: channels
    int64_t extent;   // conv2d: padding; max_pool2d: window
    serve_weight_id weight;
    serve_weight_id bias;
} operator_key;

static_assert(sizeof(operator_key) == 12 * sizeof(int64_t), "a key has no padding");

// An operator on its way: what it depends on, and where its weights are.
typedef struct wanted {
    operator_key key;
    const kw_tensor *weight; // NULL: none
    const kw_tensor *bias;
} wanted;

// guard: immutable, between start and stop; what is inside is the cache's own.
static serve_cache pools;

static void destroy_pool(void *take_value)
{
    xnnpack_pool_destroy(take_value);
}

kw_status xnnpack_operations_start(kw_error *err)
{
    const enum xnn_status status = xnn_initialize(NULL);
    if (status != xnn_status_success) {
        return kw_error_set(err, KW_NOT_SUPPORTED, "XNNPACK does not start here: status %d",
                            (int)status);
    }
    return serve_cache_init(&pools, POOLS_MAX, destroy_pool, err);
}

void xnnpack_operations_stop(void)
{
    serve_cache_fini(&pools);
}

static kw_status fail(enum xnn_status status, const char *what)
{
    if (status == xnn_status_out_of_memory) {
        return kw_fail(KW_NO_MEMORY, "XNNPACK has no memory for %s", what);
    }
    return kw_fail(status == xnn_status_unsupported_parameter ||
                           status == xnn_status_unsupported_hardware
                       ? KW_NOT_SUPPORTED
                       : KW_KERNEL_FAILED,
                   "XNNPACK fails with status %d at %s", (int)status, what);
}

static size_t size_of(const wanted *of, size_t index)
{
    return (size_t)of->key.sizes[index];
}

// Weights come as [k, c, r, s], and XNNPACK wants [k, r, s, c].
static float *filters_of(const wanted *of)
{
    const size_t channels = size_of(of, 1);
    const size_t pixels = size_of(of, 2) * size_of(of, 3);
    const float *from = serve_tensor_values(of->weight);
    float *filters = malloc(size_of(of, 0) * channels * pixels * sizeof filters[0]);
    for (size_t k = 0; filters != NULL && k < size_of(of, 0); k++) {
        for (size_t c = 0; c < channels; c++) {
            for (size_t p = 0; p < pixels; p++) {
                filters[(k * pixels + p) * channels + c] = from[(k * channels + c) * pixels + p];
            }
        }
    }
    return filters;
}

static enum xnn_status create_conv2d(const wanted *of, xnn_operator_t *out_operator)
{
    float *filters = filters_of(of);
    if (filters == NULL) {
        return xnn_status_out_of_memory;
    }
    const uint32_t padding = (uint32_t)of->key.extent;
    const enum xnn_status status = xnn_create_convolution2d_nhwc_f32(
        padding, padding, padding, padding, (uint32_t)size_of(of, 2), (uint32_t)size_of(of, 3), 1,
        1, 1, 1, 1, size_of(of, 1), size_of(of, 0), size_of(of, 1), size_of(of, 0), filters,
        serve_tensor_values(of->bias), -INFINITY, INFINITY, 0, out_operator);
    free(filters); // they are packed
    return status;
}

static enum xnn_status create_max_pool2d(const wanted *of, xnn_operator_t *out_operator)
{
    const size_t channels = size_of(of, 0);
    const uint32_t window = (uint32_t)of->key.extent;
    return xnn_create_max_pooling2d_nhwc_f32(0, 0, 0, 0, window, window, window, window, 1, 1,
                                             channels, channels, channels, -INFINITY, INFINITY, 0,
                                             out_operator);
}

static enum xnn_status create_operator(const wanted *of, xnn_operator_t *out_operator)
{
    switch (of->key.op) {
    case CONV2D:
        return create_conv2d(of, out_operator);
    case RELU: // elements are rows of one channel: so one operator serves all shapes
        return xnn_create_clamp_nc_f32(1, 1, 1, 0, INFINITY, 0, out_operator);
    case MAX_POOL2D:
        return create_max_pool2d(of, out_operator);
    default:
        return xnn_create_fully_connected_nc_f32(size_of(of, 1), size_of(of, 0), size_of(of, 1),
                                                 size_of(of, 0), serve_tensor_values(of->weight),
                                                 serve_tensor_values(of->bias), -INFINITY, INFINITY,
                                                 0, out_operator);
    }
}

static enum xnn_status set_up(const wanted *of, xnn_operator_t taken, const kw_tensor *x, float *y)
{
    const float *from = serve_tensor_values(x);
    const int64_t *sizes = kw_tensor_sizes(x);
    switch (of->key.op) {
    case CONV2D:
        return xnn_setup_convolution2d_nhwc_f32(taken, (size_t)sizes[0], (size_t)sizes[2],
                                                (size_t)sizes[3], from, y, NULL);
    case RELU:
        return xnn_setup_clamp_nc_f32(taken, (size_t)kw_tensor_numel(x), from, y, NULL);
    case MAX_POOL2D:
        return xnn_setup_max_pooling2d_nhwc_f32(taken, (size_t)sizes[0], (size_t)sizes[2],
                                                (size_t)sizes[3], from, y, NULL);
    default:
        return xnn_setup_fully_connected_nc_f32(taken, (size_t)sizes[0], from, y, NULL);
    }
}

static kw_status make_pool(void *context, void **out_value)
{
    (void)context;
    *out_value = xnnpack_pool_create();
    return *out_value != NULL ? KW_OK : kw_fail(KW_NO_MEMORY, "there is no memory for a pool");
}

static kw_status run_in(xnnpack_pool *pool, const wanted *of, const kw_tensor *x, float *y)
{
    xnn_operator_t taken = xnnpack_pool_take(pool);
    enum xnn_status status = taken != NULL ? xnn_status_success : create_operator(of, &taken);
    if (status != xnn_status_success) {
        return fail(status, "making an operator");
    }
    status = set_up(of, taken, x, y);
    if (status == xnn_status_success) {
        status = xnn_run_operator(taken, NULL);
    }
    xnnpack_pool_give(pool, taken);
    return status == xnn_status_success ? KW_OK : fail(status, "a run");
}

static kw_status run(const wanted *of, const kw_tensor *x, float *y)
{
    const serve_cache_key key = {
        .bytes = &of->key,
        .size = sizeof of->key,
        .holds = {of->weight != NULL ? kw_tensor_storage(of->weight) : NULL,
                  of->bias != NULL ? kw_tensor_storage(of->bias) : NULL},
    };
    serve_cache_entry *entry = NULL;
    kw_status status = serve_cache_take(&pools, &key, make_pool, NULL, &entry);
    if (status == KW_OK) {
        status = run_in(serve_cache_value(entry), of, x, y);
        serve_cache_give(&pools, entry);
    }
    return status;
}

static wanted with_weights(int64_t op, const kw_tensor *weight, const kw_tensor *bias)
{
    wanted made = {
        .key = {.op = op,
                .weight = serve_weight_identify(weight),
                .bias = serve_weight_identify(bias)},
        .weight = weight,
        .bias = bias,
    };
    for (uint32_t i = 0; i < kw_tensor_dim(weight); i++) {
        made.key.sizes[i] = kw_tensor_sizes(weight)[i];
    }
    return made;
}

kw_status xnnpack_conv2d(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                         int64_t padding, float *y)
{
    wanted made = with_weights(CONV2D, weight, bias);
    made.key.extent = padding;
    return run(&made, x, y);
}

kw_status xnnpack_relu(const kw_tensor *x, float *y)
{
    const wanted made = {.key = {.op = RELU}};
    return run(&made, x, y);
}

kw_status xnnpack_max_pool2d(const kw_tensor *x, int64_t size, float *y)
{
    const wanted made = {
        .key = {.op = MAX_POOL2D, .sizes = {kw_tensor_sizes(x)[1]}, .extent = size}};
    return run(&made, x, y);
}

kw_status xnnpack_linear(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                         float *y)
{
    const wanted made = with_weights(LINEAR, weight, bias);
    return run(&made, x, y);
}
