// Operation: runs one of the five operators for a shape, with layers and packed weights that are
// made once and shared.
//
// Layer:   example (uses layer, recipe, support/cache)
// Threads: any, but for start and stop
// SPDX-License-Identifier: MIT

#include "operation.h"

#include <stdlib.h>
#include <string.h>

#include <keyway/call.h>

#include "layer.h"
#include "plugins/support/cache.h"
#include "recipe.h"
#include "tensors.h"
#include "workspace.h"

enum {
    LAYERS_MAX = 256, // ten layers of the network, for each number of images in a batch up to 25
    WEIGHTS_MAX = 32
};

static_assert(sizeof(onednn_shape) == 16 * sizeof(int64_t), "a key has no padding");

// What a packed weight depends on. Layers of several shapes share it if they want the same format.
typedef struct weight_key {
    serve_weight_id id;
    dnnl_memory_desc_t format;
} weight_key;

// guard: immutable, between start and stop; what is inside is the caches' own.
static serve_cache layers;
static serve_cache weights;

static void destroy_layer(void *take_value)
{
    onednn_layer_destroy(take_value);
}

kw_status onednn_operations_start(kw_error *err)
{
    kw_status status = onednn_start(err);
    if (status == KW_OK) {
        status = serve_cache_init(&layers, LAYERS_MAX, destroy_layer, err);
    }
    if (status == KW_OK) {
        status = serve_cache_init(&weights, WEIGHTS_MAX, free, err);
    }
    if (status != KW_OK) {
        onednn_operations_stop();
    }
    return status;
}

void onednn_operations_stop(void)
{
    serve_cache_fini(&weights);
    serve_cache_fini(&layers);
    onednn_stop();
}

static kw_status make_layer(void *context, void **out_value)
{
    onednn_layer *layer = NULL;
    const kw_status status = onednn_recipe_make(context, &layer);
    if (status == KW_OK) {
        *out_value = layer;
    }
    return status;
}

// A weight on its way to the format of a layer.
typedef struct packing {
    const onednn_layer *layer;
    const kw_tensor *weight;
} packing;

static kw_status make_weight(void *context, void **out_value)
{
    const packing *made = context;
    const size_t bytes = onednn_layer_weight_bytes(made->layer);
    void *packed = aligned_alloc(ONEDNN_ALIGNMENT, onednn_aligned(bytes));
    if (packed == NULL) {
        return kw_fail(KW_NO_MEMORY, "there are no %zu bytes for a packed weight", bytes);
    }
    const kw_status status =
        onednn_layer_weight_pack(made->layer, serve_tensor_values(made->weight), packed);
    if (status != KW_OK) {
        free(packed);
        return status;
    }
    *out_value = packed;
    return KW_OK;
}

static kw_status take_weight(const onednn_layer *layer, const kw_tensor *weight,
                             serve_cache_entry **out_entry)
{
    weight_key bytes;
    memset(&bytes, 0, sizeof bytes);
    bytes.id = serve_weight_identify(weight);
    bytes.format = *onednn_layer_weight(layer);
    const serve_cache_key key = {
        .bytes = &bytes,
        .size = sizeof bytes,
        .holds = {kw_tensor_storage(weight)},
    };
    packing made = {.layer = layer, .weight = weight};
    return serve_cache_take(&weights, &key, make_weight, &made, out_entry);
}

static kw_status run(const onednn_layer *layer, const kw_tensor *x, const kw_tensor *weight,
                     const kw_tensor *bias, float *y)
{
    onednn_values values = {
        .source = serve_tensor_values(x),
        .weight = serve_tensor_values(weight),
        .bias = serve_tensor_values(bias),
        .result = y,
    };
    serve_cache_entry *packed = NULL;
    if (onednn_layer_weight_bytes(layer) != 0) {
        const kw_status status = take_weight(layer, weight, &packed);
        if (status != KW_OK) {
            return status;
        }
        values.weight = serve_cache_value(packed);
    }
    const kw_status status = onednn_layer_run(layer, &values);
    serve_cache_give(&weights, packed);
    return status;
}

kw_status onednn_operation_run(const onednn_shape *shape, const kw_tensor *x,
                               const kw_tensor *weight, const kw_tensor *bias, float *y)
{
    const serve_cache_key key = {.bytes = shape, .size = sizeof *shape};
    onednn_shape copy = *shape;
    serve_cache_entry *entry = NULL;
    kw_status status = serve_cache_take(&layers, &key, make_layer, &copy, &entry);
    if (status == KW_OK) {
        status = run(serve_cache_value(entry), x, weight, bias, y);
        serve_cache_give(&layers, entry);
    }
    return status;
}
