// Tensor types: how the library treats tensors that it never looks into.
//
// Layer:     value
// Threads:   the functions are called from any thread, from several at once.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT

#ifndef KW_TENSOR_TYPE_H
#define KW_TENSOR_TYPE_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/keyset.h>

KW_BEGIN_DECLS

/// How a dispatcher treats the embedder's tensors. Copied; the functions stay valid as long as the
/// dispatcher, and as long as a counted list of tensors.
///
/// Two types are the same if name and version are equal: libraries compiled for another one are
/// refused.
typedef struct kw_tensor_type {
    size_t struct_size;
    const char *name;
    uint32_t version;
    kw_keyset (*keys)(const void *tensor); // the tensor's key set; called on every boxed call
    void (*retain)(void *tensor);          // one more counted reference; NULL allowed
    void (*release)(void *tensor);         // one fewer; NULL allowed
    kw_keyset (*generator_keys)(const void *generator); // of a Generator; NULL: none
} kw_tensor_type;

KW_END_DECLS

#endif // KW_TENSOR_TYPE_H
