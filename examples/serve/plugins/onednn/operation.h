// Operation: runs one of the five operators for a shape, with layers and packed weights that are
// made once and shared.
//
// Layer:   example (uses layer, recipe, support/cache)
// Threads: any, but for start and stop
// SPDX-License-Identifier: MIT

#ifndef SERVE_PLUGINS_ONEDNN_OPERATION_H
#define SERVE_PLUGINS_ONEDNN_OPERATION_H

#include <stdint.h>

#include <keyway/tensor.h>

typedef enum onednn_operator {
    ONEDNN_CONV2D = 0,
    ONEDNN_RELU = 1,
    ONEDNN_MAX_POOL2D = 2,
    ONEDNN_LINEAR = 3,
    ONEDNN_SOFTMAX = 4
} onednn_operator;

/// What a layer depends on. Members that an operator does not have are 0. No padding: the bytes
/// are the key of a cache.
typedef struct onednn_shape {
    int64_t op;        // an onednn_operator
    int64_t source[4]; // conv2d, max_pool2d: n, c, h, w; linear, softmax: n, c; relu: elements
    int64_t weight[4]; // conv2d: k, c, r, s; linear: k, c
    int64_t result[4]; // conv2d, max_pool2d: n, k, h, w; linear: n, k
    int64_t padding;   // conv2d
    int64_t window;    // max_pool2d
    int64_t has_bias;  // conv2d, linear
} onednn_shape;

/// Makes the caches, and what stands below them.
kw_status onednn_operations_start(kw_error *err);

/// Drops everything, when no operation runs any more.
void onednn_operations_stop(void);

/// Runs an operator on contiguous float32 tensors of the CPU that fit `shape`; `weight` and `bias`
/// are NULL where there is none. Fails as a kernel does.
kw_status onednn_operation_run(const onednn_shape *shape, const kw_tensor *x,
                               const kw_tensor *weight, const kw_tensor *bias, float *y);

#endif // SERVE_PLUGINS_ONEDNN_OPERATION_H
