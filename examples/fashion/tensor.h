// Tensor: the demo's own tensor, which Keyway sees through a kw_tensor_type.
//
// Layer:     example (uses Keyway's public headers)
// Threads:   any may retain and release; the values belong to whoever made the tensor until it is
//            handed on, and do not change afterwards
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_TENSOR_H
#define FASHION_TENSOR_H

#include <stdatomic.h>
#include <stddef.h>

#include <keyway/dispatcher.h>
#include <keyway/keyset.h>

enum {
    FASHION_RANK_MAX = 4
};

typedef struct fashion_tensor {
    kw_keyset keys; // where its data lies, and what else wants to take part in calls with it
    size_t rank;
    size_t shape[FASHION_RANK_MAX]; // `rank` extents, then zeros
    size_t count;                   // product of the extents
    atomic_size_t references;
    float values[]; // `count` of them, row-major
} fashion_tensor;

/// The keys with which a tensor takes part in a call; inline for the generated calls.
static inline kw_keyset fashion_tensor_keys(const fashion_tensor *tensor)
{
    return tensor->keys;
}

/// How Keyway reads the keys of a fashion_tensor, and keeps one alive.
extern const kw_tensor_type fashion_tensor_type;

/// Makes a tensor with values still to be written, and with the keys that a tensor in the memory
/// of the CPU carries in PyTorch: CPU, ADInplaceOrView, AutogradCPU and AutocastCPU.
///
/// The caller owns the one reference. Returns NULL if memory is out.
fashion_tensor *fashion_tensor_create(size_t rank, const size_t *shape);

/// Counts one reference more and returns the tensor. NULL gives NULL.
fashion_tensor *fashion_tensor_retain(fashion_tensor *tensor);

/// Counts one reference fewer and frees the tensor with the last one. NULL is allowed.
void fashion_tensor_release(fashion_tensor *tensor);

/// Returns the values; NULL for NULL, the absent tensor.
const float *fashion_tensor_values(const fashion_tensor *tensor);

#endif // FASHION_TENSOR_H
