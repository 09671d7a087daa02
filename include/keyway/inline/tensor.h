// The reference tensor's body, for accessors that are a load.
//
// Layer:     tensor
// Threads:   see tensor.h.
// Stability: inline tier: recompile for each layout number.
// SPDX-License-Identifier: MIT
//
// Note [128 bytes]
//
// The original's TensorImpl takes 192 bytes (1.13.1, x86-64), and its notes tell of 400 million
// live tensors, where each word is 3.2 GB. This one takes two cache lines. What it does without:
//
//   no vtable             layouts and wrappers are told apart by keys and the side block
//   no element count      the product of at most five numbers that are on the way anyway
//   no version counter    a storage has one for all its views; a tensor whose counter is another
//                         one than its storage's has it in the side block
//   no autograd, names, symbolic shape, backend metadata, interpreter slot: in the side block
//
// N1  `keys` agrees with device, layout, element type, names and the Python bits.
// N2  Up to KW_TENSOR_INLINE_DIM dimensions sizes and strides are inline; beyond, `shape.block` is
//     one allocation of 2 * dim words, sizes first.
// N3  The flags of contiguity are what sizes and strides say.
// N4  Side block, sizes, strides and offset belong to whoever may change the tensor: they are
//     written by no thread while another one uses it. Counts and the side block's pointer are
//     atomic.

#ifndef KW_INLINE_TENSOR_H
#define KW_INLINE_TENSOR_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/inline/cell.h>
#include <keyway/keyset.h>

KW_BEGIN_DECLS

// The number of this layout, in a symbol's name as that of calls (inline/call.h).
#define KW_TENSOR_LAYOUT 1
extern const unsigned char kwi_tensor_layout_1 KW_API;
__attribute__((used)) static const unsigned char *const kwi_tensor_layout_wanted =
    &kwi_tensor_layout_1;

#define KW_TENSOR_INLINE_DIM 5
#define KW_TENSOR_DIM_MAX 64

// Bits of `flags`.
#define KWI_TENSOR_CONTIGUOUS 1u
#define KWI_TENSOR_CHANNELS_LAST 2u      // contiguous as NHWC
#define KWI_TENSOR_CHANNELS_LAST_3D 4u   // contiguous as NDHWC
#define KWI_TENSOR_LIKE_CHANNELS_LAST 8u // strides in that order, with gaps or not
#define KWI_TENSOR_LIKE_CHANNELS_LAST_3D 16u
#define KWI_TENSOR_DENSE 32u          // non-overlapping and dense
#define KWI_TENSOR_WRAPPED_NUMBER 64u // made of a number: takes no part in type promotion
#define KWI_TENSOR_SYMBOLIC 128u      // sizes, strides or offset are in the side block
#define KWI_TENSOR_VIEW 256u          // made by a view function
#define KWI_TENSOR_STATIC 512u        // never freed and not counted: the undefined tensor

typedef struct kw_tensor {
    // What a call reads.
    uint64_t keys; // guard: thread

    // Strong references in the low half; in the high half weak ones, and one for all strong ones
    // together. One word, so that one load tells whether a reference is the only one.
    // guard: cell. Up: relaxed. Down: release, then acquire. [pair: tensor-count]
    kwi_u64_cell counts;

    struct kw_storage *storage; // guard: thread. One reference; NULL: none

    // guard: cell. Store: release, once. Load: acquire. [pair: tensor-extra]
    kwi_ptr_cell extra;

    int64_t offset; // guard: thread. In elements

    // guard: thread
    uint8_t dtype;
    uint8_t layout;
    uint8_t device_type;
    int8_t device_index; // -1: the device type has only one, or the current one
    uint8_t dim;
    uint8_t reserved;
    uint16_t flags;

    // guard: thread
    union {
        int64_t words[2 * KW_TENSOR_INLINE_DIM]; // sizes in the first half, strides in the second
        int64_t *block;
    } shape;
} kw_tensor;

static_assert(sizeof(kw_tensor) == 128, "a tensor takes two cache lines");
static_assert(offsetof(kw_tensor, keys) == 0, "calls read the first line");
static_assert(offsetof(kw_tensor, shape) == 48, "what calls read lies before sizes and strides");

static inline kw_keyset kw_tensor_keyset(const kw_tensor *tensor)
{
    return kw_keyset_from_bits(tensor->keys);
}

static inline uint8_t kw_tensor_dtype(const kw_tensor *tensor)
{
    return tensor->dtype;
}

static inline uint8_t kw_tensor_layout(const kw_tensor *tensor)
{
    return tensor->layout;
}

static inline uint32_t kw_tensor_dim(const kw_tensor *tensor)
{
    return tensor->dim;
}

/// Sizes and strides in elements, `dim` of each; borrowed until the tensor's shape is changed.
/// For a tensor with a symbolic shape these are not to be used: kw_tensor_is_symbolic().
static inline const int64_t *kw_tensor_sizes(const kw_tensor *tensor)
{
    return KW_LIKELY(tensor->dim <= KW_TENSOR_INLINE_DIM) ? tensor->shape.words
                                                          : tensor->shape.block;
}

static inline const int64_t *kw_tensor_strides(const kw_tensor *tensor)
{
    return KW_LIKELY(tensor->dim <= KW_TENSOR_INLINE_DIM)
               ? tensor->shape.words + KW_TENSOR_INLINE_DIM
               : tensor->shape.block + tensor->dim;
}

static inline int64_t kw_tensor_storage_offset(const kw_tensor *tensor)
{
    return tensor->offset;
}

/// The number of elements: the product of the sizes, 1 without dimensions.
static inline int64_t kw_tensor_numel(const kw_tensor *tensor)
{
    const int64_t *sizes = kw_tensor_sizes(tensor);
    int64_t count = 1;
    for (uint32_t i = 0; i < tensor->dim; i++) {
        count *= sizes[i];
    }
    return count;
}

static inline bool kw_tensor_is_contiguous(const kw_tensor *tensor)
{
    return (tensor->flags & KWI_TENSOR_CONTIGUOUS) != 0;
}

static inline bool kw_tensor_is_symbolic(const kw_tensor *tensor)
{
    return (tensor->flags & KWI_TENSOR_SYMBOLIC) != 0;
}

KW_END_DECLS

#endif // KW_INLINE_TENSOR_H
