// Weight cache: what a plugin has made of weights, to be made once and used by every call.
//
// Layer:   example (uses cache)
// Threads: any, but for init and serve_cache_fini()
// SPDX-License-Identifier: MIT
//
// Weights are told apart as cache.h says, and by type and shape. What is made of them are tensors,
// whose end runs no code of the plugin. So the cache needs no lease, and ending it in the plugin's
// stop is soon enough.

#ifndef SERVE_PLUGINS_SUPPORT_WEIGHT_CACHE_H
#define SERVE_PLUGINS_SUPPORT_WEIGHT_CACHE_H

#include <keyway/tensor.h>

#include "cache.h"

/// Makes the other form of a weight, without keeping anything of it.
///
/// On success the caller owns the reference. Fails as kernels do.
typedef kw_status (*serve_weight_convert)(kw_tensor *weight, kw_tensor **out_converted);

/// Makes a cache for tensors, ended by serve_cache_fini().
kw_status serve_weight_cache_init(serve_cache *cache, kw_error *err);

/// Finds what was made of a weight, or makes it. One cache goes with one `convert`.
///
/// On success the caller owns one reference. Fails as kernels do.
kw_status serve_weight_cache_get(serve_cache *cache, kw_tensor *weight,
                                 serve_weight_convert convert, kw_tensor **out_converted);

#endif // SERVE_PLUGINS_SUPPORT_WEIGHT_CACHE_H
