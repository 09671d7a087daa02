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
    size_t keys_at; // where a tensor has its key set, see KW_KEYS_AT; 0: ask `keys`
} kw_tensor_type;

/// Says where a tensor has its key set, for the calls that would ask the function `keys` otherwise:
/// a boxed call then needs no call for a tensor.
///
/// The member is a kw_keyset, or the 64 bits of one, aligned as such. It lies in the very object
/// that frames point to, always says what `keys` would, and is not written while another thread may
/// make a call with the tensor. The function is needed all the same.
///
/// @since 0.1
#define KW_KEYS_AT(type, member) (offsetof(type, member) + 1)

KW_END_DECLS

#endif // KW_TENSOR_TYPE_H
