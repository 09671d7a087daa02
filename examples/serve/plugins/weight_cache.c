// Weight cache: what a plugin has made of weights, to be made once and used by every call.
//
// Layer:   example (uses keyway/tensor_view.h)
// Threads: any; a lock for the time of a look-up, and of making what is not there
// SPDX-License-Identifier: MIT

#include "weight_cache.h"

#include <stdbool.h>
#include <string.h>

#include <keyway/call.h>

static void drop(serve_weight_entry *take_entry)
{
    kw_tensor_release(take_entry->weight);
    kw_tensor_release(take_entry->seen);
    kw_tensor_release(take_entry->converted);
}

// 0 for a tensor that has no version.
static uint32_t version_of(const kw_tensor *tensor)
{
    uint32_t version = 0;
    return kw_tensor_version(tensor, &version, NULL) == KW_OK ? version : 0;
}

static bool is_same(const serve_weight_entry *entry, const kw_tensor *weight)
{
    const size_t bytes = kw_tensor_dim(weight) * sizeof(int64_t);
    const kw_tensor *seen = entry->seen;
    return entry->version == version_of(weight) &&
           kw_tensor_storage(seen) == kw_tensor_storage(weight) &&
           kw_tensor_storage_offset(seen) == kw_tensor_storage_offset(weight) &&
           kw_tensor_dtype(seen) == kw_tensor_dtype(weight) &&
           kw_tensor_dim(seen) == kw_tensor_dim(weight) &&
           memcmp(kw_tensor_sizes(seen), kw_tensor_sizes(weight), bytes) == 0 &&
           memcmp(kw_tensor_strides(seen), kw_tensor_strides(weight), bytes) == 0;
}

// The version is read first: who writes a weight while it is used may, at worst, be noticed later.
static kw_status make(kw_tensor *weight, serve_weight_convert convert,
                      serve_weight_entry *out_entry)
{
    serve_weight_entry entry = {.version = version_of(weight)};
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_alias(weight, &entry.seen, &err);
    if (status != KW_OK) {
        return kw_fail(status, "%s", err.text);
    }
    status = convert(weight, &entry.converted);
    if (status != KW_OK) {
        drop(&entry);
        return status;
    }
    kw_tensor_retain(weight);
    entry.weight = weight;
    *out_entry = entry;
    return KW_OK;
}

// The place of a weight that has been converted, or else of what has to go for it.
static serve_weight_entry *find(serve_weight_cache *cache, const kw_tensor *weight)
{
    for (size_t i = 0; i < SERVE_WEIGHT_CACHE_MAX; i++) {
        if (cache->entries[i].weight == weight) {
            return &cache->entries[i];
        }
    }
    return &cache->entries[cache->next];
}

kw_status serve_weight_cache_get(serve_weight_cache *cache, kw_tensor *weight,
                                 serve_weight_convert convert, kw_tensor **out_converted)
{
    serve_weight_entry before = {.weight = NULL};
    kw_status status = KW_OK;
    (void)pthread_mutex_lock(&cache->mutex);
    serve_weight_entry *entry = find(cache, weight);
    if (entry->weight != weight || !is_same(entry, weight)) {
        serve_weight_entry made;
        status = make(weight, convert, &made);
        if (status == KW_OK) {
            if (entry->weight != weight) {
                cache->next = (cache->next + 1) % SERVE_WEIGHT_CACHE_MAX;
            }
            before = *entry;
            *entry = made;
        }
    }
    if (status == KW_OK) {
        kw_tensor_retain(entry->converted);
        *out_converted = entry->converted;
    }
    (void)pthread_mutex_unlock(&cache->mutex);
    drop(&before); // may run code of whoever made the weight
    return status;
}

void serve_weight_cache_clear(serve_weight_cache *cache)
{
    for (size_t i = 0; i < SERVE_WEIGHT_CACHE_MAX; i++) {
        (void)pthread_mutex_lock(&cache->mutex);
        serve_weight_entry entry = cache->entries[i];
        cache->entries[i] = (serve_weight_entry){.weight = NULL};
        (void)pthread_mutex_unlock(&cache->mutex);
        drop(&entry);
    }
}
