// Tensors, from inside: what makes one of ready parts, and gives one another shape.
//
// Layer:   tensor
// Threads: as tensor.h says.
// SPDX-License-Identifier: MIT

#ifndef KWI_TENSOR_TENSOR_H
#define KWI_TENSOR_TENSOR_H

#include <keyway/tensor.h>

// A shape in numbers that belong to somebody else.
typedef struct kwi_geometry {
    const int64_t *sizes;
    const int64_t *strides; // in elements
    int64_t offset;         // in elements
    uint32_t dim;           // KW_TENSOR_DIM_MAX at most
} kwi_geometry;

// What a tensor is made of. Nothing of it is checked: who makes one has seen to it that the shape
// lies within the storage and that the keys agree with the rest.
typedef struct kwi_tensor_parts {
    kwi_geometry shape;
    kw_keyset keys;
    kw_storage *storage; // NULL: none
    kw_device device;
    uint8_t dtype;
    uint8_t layout;
    uint16_t flags;     // KWI_TENSOR_VIEW, KWI_TENSOR_WRAPPED_NUMBER; those of shapes are computed
    bool is_contiguous; // the strides are known to be those of contiguous elements
} kwi_tensor_parts;

// Makes a tensor with one reference, which retains the storage. KW_OK or KW_NO_MEMORY.
kw_status kwi_tensor_make(const kwi_tensor_parts *parts, kw_tensor **out_tensor, kw_error *err);

// The shape of a tensor without symbols, borrowed from it.
kwi_geometry kwi_tensor_shape(const kw_tensor *tensor);

// Gives a tensor another shape, also one made of its own numbers. KW_OK, or KW_NO_MEMORY, and then
// nothing is changed; five dimensions or fewer need no memory.
kw_status kwi_tensor_set_shape(kw_tensor *tensor, const kwi_geometry *shape, kw_error *err);

// What kw_tensor_undefined() returns; for counting, which must not read what a thread may change.
extern kw_tensor kwi_undefined;

// Ends everything but the body, when the last strong reference has gone.
void kwi_tensor_end_contents(kw_tensor *tensor);

// Halves of kw_tensor.counts, and the value that says: this reference is the only one.
#define KWI_TENSOR_STRONG UINT64_C(1)
#define KWI_TENSOR_WEAK (UINT64_C(1) << 32)
#define KWI_TENSOR_ONLY_ONE (KWI_TENSOR_WEAK | KWI_TENSOR_STRONG)

// Whether the calling thread is in inference mode.
bool kwi_thread_is_inferring(void);

#endif // KWI_TENSOR_TENSOR_H
