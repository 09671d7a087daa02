// Cache: what a plugin has prepared for shapes or weights, shared by threads and bounded.
//
// Layer:   example (uses keyway/tensor.h)
// Threads: any, but for init and fini
// SPDX-License-Identifier: MIT

#include "cache.h"

#include <stdlib.h>
#include <string.h>

#include <keyway/call.h>
#include <keyway/tensor_view.h>

struct serve_cache_entry {
    uint64_t hash;
    uint64_t used; // guard: lock mutex. The cache's clock at the last use
    size_t taken;  // guard: lock mutex. Takers, and one for the cache while it is listed
    void *value;   // owned
    kw_storage *holds[SERVE_CACHE_HOLDS_MAX];
    size_t key_size;
    unsigned char key[];
};

serve_weight_id serve_weight_identify(const kw_tensor *tensor)
{
    serve_weight_id id = {0, 0, 0};
    if (tensor != NULL) {
        uint32_t version = 0;
        kw_error ignored = KW_ERROR_INIT; // an inference tensor has none, and stays at 0
        (void)!kw_tensor_version(tensor, &version, &ignored);
        id.storage = (uint64_t)(uintptr_t)kw_tensor_storage(tensor);
        id.offset = kw_tensor_storage_offset(tensor);
        id.version = version;
    }
    return id;
}

// FNV-1a by words, for keys of a few hundred bytes that are compared in full afterwards.
static uint64_t hash_of(const serve_cache_key *key)
{
    const unsigned char *bytes = key->bytes;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < key->size; i += sizeof hash) {
        const size_t left = key->size - i;
        uint64_t word = 0;
        memcpy(&word, bytes + i, left < sizeof word ? left : sizeof word);
        hash = (hash ^ word) * UINT64_C(1099511628211);
        hash ^= hash >> 32;
    }
    return hash;
}

kw_status serve_cache_init(serve_cache *cache, size_t capacity, void (*destroy)(void *take_value),
                           kw_error *err)
{
    serve_cache_entry **entries = calloc(capacity, sizeof entries[0]);
    if (entries == NULL || pthread_mutex_init(&cache->mutex, NULL) != 0) {
        free(entries);
        return kw_error_set(err, KW_NO_MEMORY, "there is no memory for a cache of %zu", capacity);
    }
    cache->destroy = destroy;
    cache->capacity = capacity;
    cache->entries = entries;
    cache->count = 0;
    cache->clock = 0;
    return KW_OK;
}

static void destroy(const serve_cache *cache, serve_cache_entry *take_entry)
{
    if (take_entry == NULL) {
        return;
    }
    cache->destroy(take_entry->value);
    for (size_t i = 0; i < SERVE_CACHE_HOLDS_MAX; i++) {
        kw_storage_release(take_entry->holds[i]);
    }
    free(take_entry);
}

void serve_cache_fini(serve_cache *cache)
{
    if (cache->entries == NULL) {
        return;
    }
    for (size_t i = 0; i < cache->count; i++) {
        destroy(cache, cache->entries[i]);
    }
    free(cache->entries);
    cache->entries = NULL;
    cache->count = 0;
    (void)pthread_mutex_destroy(&cache->mutex);
}

// With the mutex.
static serve_cache_entry *find(serve_cache *cache, const serve_cache_key *key, uint64_t hash)
{
    for (size_t i = 0; i < cache->count; i++) {
        serve_cache_entry *entry = cache->entries[i];
        if (entry->hash == hash && entry->key_size == key->size &&
            memcmp(entry->key, key->bytes, key->size) == 0) {
            entry->taken++;
            entry->used = ++cache->clock;
            return entry;
        }
    }
    return NULL;
}

// With the mutex. Returns what went from the list and is taken by nobody; NULL: nothing.
static serve_cache_entry *list(serve_cache *cache, serve_cache_entry *entry)
{
    size_t place = cache->count;
    serve_cache_entry *leaving = NULL;
    if (cache->count == cache->capacity) {
        place = 0;
        for (size_t i = 1; i < cache->count; i++) {
            place = cache->entries[i]->used < cache->entries[place]->used ? i : place;
        }
        leaving = cache->entries[place];
        leaving->taken--;
    } else {
        cache->count++;
    }
    entry->taken++;
    entry->used = ++cache->clock;
    cache->entries[place] = entry;
    return leaving != NULL && leaving->taken == 0 ? leaving : NULL;
}

static serve_cache_entry *make_entry(const serve_cache_key *key, uint64_t hash, void *take_value)
{
    serve_cache_entry *entry = malloc(sizeof *entry + key->size);
    if (entry == NULL) {
        return NULL;
    }
    *entry = (serve_cache_entry){
        .hash = hash,
        .taken = 1,
        .value = take_value,
        .key_size = key->size,
    };
    memcpy(entry->key, key->bytes, key->size);
    for (size_t i = 0; i < SERVE_CACHE_HOLDS_MAX; i++) {
        entry->holds[i] = key->holds[i];
        kw_storage_retain(entry->holds[i]);
    }
    return entry;
}

kw_status serve_cache_take(serve_cache *cache, const serve_cache_key *key, serve_cache_make make,
                           void *context, serve_cache_entry **out_entry)
{
    const uint64_t hash = hash_of(key);
    (void)pthread_mutex_lock(&cache->mutex);
    serve_cache_entry *found = find(cache, key, hash);
    (void)pthread_mutex_unlock(&cache->mutex);
    if (found != NULL) {
        *out_entry = found;
        return KW_OK;
    }
    void *value = NULL;
    const kw_status status = make(context, &value);
    if (status != KW_OK) {
        return status;
    }
    serve_cache_entry *made = make_entry(key, hash, value);
    if (made == NULL) {
        cache->destroy(value);
        return kw_fail(KW_NO_MEMORY, "there is no memory for what is prepared once");
    }
    (void)pthread_mutex_lock(&cache->mutex);
    found = find(cache, key, hash);
    serve_cache_entry *leaving = found != NULL ? made : list(cache, made);
    (void)pthread_mutex_unlock(&cache->mutex);
    destroy(cache, leaving);
    *out_entry = found != NULL ? found : made;
    return KW_OK;
}

void *serve_cache_value(const serve_cache_entry *entry)
{
    return entry->value;
}

void serve_cache_give(serve_cache *cache, serve_cache_entry *take_entry)
{
    if (take_entry == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&cache->mutex);
    const bool is_last = --take_entry->taken == 0;
    (void)pthread_mutex_unlock(&cache->mutex);
    if (is_last) {
        destroy(cache, take_entry);
    }
}
