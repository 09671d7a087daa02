// Weight cache: what a plugin has made of weights, to be made once and used by every call.
//
// Layer:   example (uses keyway/tensor_view.h)
// Threads: any; a lock for the time of a look-up, and of making what is not there
// SPDX-License-Identifier: MIT
//
// A weight is known by its address, and a reference keeps that from being used again. What the
// tensor was then is kept too: its storage, its shape, and its version if it has one. An inference
// tensor has none: it is written in inference mode only, by somebody who gives up on being noticed.
//
// Nothing in a cache runs code of the plugin when it ends, so it needs no lease, and clearing the
// cache in the plugin's stop is soon enough.

#ifndef SERVE_WEIGHT_CACHE_H
#define SERVE_WEIGHT_CACHE_H

#include <pthread.h>

#include <keyway/tensor_view.h>

enum {
    SERVE_WEIGHT_CACHE_MAX = 64 // then the oldest goes; the network has 8 parameters
};

typedef struct serve_weight_entry {
    kw_tensor *weight; // one reference, to the tensor itself
    kw_tensor *seen;   // an alias: the storage and the shape that were converted
    uint32_t version;
    kw_tensor *converted; // of the sizes of `seen`
} serve_weight_entry;

typedef struct serve_weight_cache {
    pthread_mutex_t mutex;
    serve_weight_entry entries[SERVE_WEIGHT_CACHE_MAX]; // guard: lock mutex
    size_t next;                                        // guard: lock mutex. Whose place is taken
} serve_weight_cache;

/// Makes the other form of a weight: of the same sizes, without keeping anything of it.
///
/// On success the caller owns the reference. Fails as kernels do.
typedef kw_status (*serve_weight_convert)(kw_tensor *weight, kw_tensor **out_converted);

/// Finds what was made of a weight, or makes it. One cache goes with one `convert`.
///
/// On success the caller owns one reference. Fails as kernels do.
kw_status serve_weight_cache_get(serve_weight_cache *cache, kw_tensor *weight,
                                 serve_weight_convert convert, kw_tensor **out_converted);

/// Gives up everything that is in a cache, which stays usable.
void serve_weight_cache_clear(serve_weight_cache *cache);

#endif // SERVE_WEIGHT_CACHE_H
