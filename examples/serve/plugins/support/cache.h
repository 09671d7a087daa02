// Cache: what a plugin has prepared for shapes or weights, shared by threads and bounded.
//
// Layer:   example (uses keyway/tensor.h)
// Threads: any, but for init and fini
// SPDX-License-Identifier: MIT
//
// Note [Weights that are told apart]
//
// A kernel meets the weights of a network again in each call, as addresses. An address is no
// identity: freed and given out again, it would bring back what was prepared for other weights. So
// an entry holds a reference on each storage that its key names: as long as the entry is there, no
// other storage has that address. Its offset tells views apart, and its version tells whether the
// elements were written to. Inference tensors have no version: they count as constant, as they do
// elsewhere in Keyway, since nothing but inference mode writes to them.
//
// Entries hold weights that the host has released until they are the longest unused, or the plugin
// stops.

#ifndef SERVE_PLUGINS_SUPPORT_CACHE_H
#define SERVE_PLUGINS_SUPPORT_CACHE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/tensor.h>

enum {
    SERVE_CACHE_HOLDS_MAX = 2 // a weight and its bias
};

typedef struct serve_cache_entry serve_cache_entry; // opaque, counted

typedef struct serve_cache {
    pthread_mutex_t mutex;
    void (*destroy)(void *take_value); // called without the mutex
    size_t capacity;
    serve_cache_entry **entries; // guard: lock mutex. `count` of them, in no order
    size_t count;                // guard: lock mutex
    uint64_t clock;              // guard: lock mutex. Counts up with each use
} serve_cache;

/// Bytes that tell one value from another, without padding, and the storages that they name.
typedef struct serve_cache_key {
    const void *bytes;
    size_t size;
    kw_storage *holds[SERVE_CACHE_HOLDS_MAX]; // NULL: none
} serve_cache_key;

/// What a key says of a tensor with weights; all 0 for NULL, an absent one.
typedef struct serve_weight_id {
    uint64_t storage;
    int64_t offset;
    uint64_t version;
} serve_weight_id;

/// See Note [Weights that are told apart].
serve_weight_id serve_weight_identify(const kw_tensor *tensor);

/// Prepares a value. Fails as a kernel does.
typedef kw_status (*serve_cache_make)(void *context, void **out_value);

/// Makes a cache for `capacity` values; the longest unused one goes when it is full.
kw_status serve_cache_init(serve_cache *cache, size_t capacity, void (*destroy)(void *take_value),
                           kw_error *err);

/// Destroys what is left, when no entry is taken any more. All zeros is allowed.
void serve_cache_fini(serve_cache *cache);

/// Finds the value of a key, or makes it with `make` outside the mutex.
///
/// Of threads that make the same value at once all but one throw theirs away. On success the entry
/// stays until it is given back, whatever becomes of the cache's own reference.
kw_status serve_cache_take(serve_cache *cache, const serve_cache_key *key, serve_cache_make make,
                           void *context, serve_cache_entry **out_entry);

/// The value, valid until the entry is given back.
void *serve_cache_value(const serve_cache_entry *entry);

/// Gives an entry back. NULL is allowed.
void serve_cache_give(serve_cache *cache, serve_cache_entry *take_entry);

#endif // SERVE_PLUGINS_SUPPORT_CACHE_H
