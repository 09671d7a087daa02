// Weight cache: what a plugin has made of weights, to be made once and used by every call.
//
// Layer:   example (uses cache)
// Threads: any, but for init and serve_cache_fini()
// SPDX-License-Identifier: MIT

#include "weight_cache.h"

#include <string.h>

#include <keyway/call.h>

enum {
    ENTRIES_MAX = 64 // the network has 8 parameters
};

// What a weight is known by, all 64-bit words, so that there is no padding.
typedef struct known {
    serve_weight_id id;
    uint64_t dtype;
    uint64_t dim;
    int64_t sizes[KW_TENSOR_INLINE_DIM];
    int64_t strides[KW_TENSOR_INLINE_DIM];
} known;

typedef struct conversion {
    kw_tensor *weight;
    serve_weight_convert convert;
} conversion;

static void release(void *take_value)
{
    kw_tensor_release(take_value);
}

kw_status serve_weight_cache_init(serve_cache *cache, kw_error *err)
{
    return serve_cache_init(cache, ENTRIES_MAX, release, err);
}

static kw_status make(void *context, void **out_value)
{
    const conversion *wanted = context;
    kw_tensor *converted = NULL;
    const kw_status status = wanted->convert(wanted->weight, &converted);
    if (status == KW_OK) {
        *out_value = converted;
    }
    return status;
}

kw_status serve_weight_cache_get(serve_cache *cache, kw_tensor *weight,
                                 serve_weight_convert convert, kw_tensor **out_converted)
{
    const uint32_t dim = kw_tensor_dim(weight);
    if (dim > KW_TENSOR_INLINE_DIM || kw_tensor_storage(weight) == NULL) {
        return kw_fail(KW_NOT_SUPPORTED, "a weight of %u dimensions, or without storage",
                       (unsigned)dim);
    }
    known seen = {
        .id = serve_weight_identify(weight),
        .dtype = kw_tensor_dtype(weight),
        .dim = dim,
    };
    memcpy(seen.sizes, kw_tensor_sizes(weight), dim * sizeof seen.sizes[0]);
    memcpy(seen.strides, kw_tensor_strides(weight), dim * sizeof seen.strides[0]);
    const serve_cache_key key = {&seen, sizeof seen, {kw_tensor_storage(weight)}};
    conversion wanted = {weight, convert};
    serve_cache_entry *entry = NULL;
    const kw_status status = serve_cache_take(cache, &key, make, &wanted, &entry);
    if (status == KW_OK) {
        *out_converted = serve_cache_value(entry);
        kw_tensor_retain(*out_converted);
        serve_cache_give(cache, entry);
    }
    return status;
}
