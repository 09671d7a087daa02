// Shapes: sizes and strides as numbers, without a tensor, and what follows from them.
//
// Layer:   tensor
// Threads: any; pure functions.
// SPDX-License-Identifier: MIT
//
// A1  Sizes and strides are not negative, and there are at most KW_TENSOR_DIM_MAX of them.
// A2  The product of the sizes other than 0 fits an int64_t. So sizes may be multiplied in any
//     order, and contiguous strides always exist.
//
// Functions that give `bool` and an output answer false for what does not fit an int64_t.

#ifndef KWI_TENSOR_SHAPE_H
#define KWI_TENSOR_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/inline/tensor.h>

// Room for any shape, for functions that compute one before a tensor has it.
typedef struct kwi_view_shape {
    uint32_t dim;
    int64_t offset;
    int64_t sizes[KW_TENSOR_DIM_MAX];
    int64_t strides[KW_TENSOR_DIM_MAX];
} kwi_view_shape;

// Whether these are sizes: A1 and A2. `*out_count` is their product.
bool kwi_sizes_count(const int64_t *sizes, uint32_t dim, int64_t *out_count);

// The dimensions from the innermost out, as a memory format (kw_memory_format_code) has them;
// Preserve counts as contiguous. False: the format wants another number of dimensions, or is none.
bool kwi_format_order(uint8_t memory_format, uint32_t dim, uint8_t *out_order);

// The strides of a memory format without gaps. False: as kwi_format_order().
bool kwi_strides_of_format(const int64_t *sizes, uint32_t dim, uint8_t memory_format,
                           int64_t *out_strides);

// Strides without gaps in the order that `strides` have: what a copy of a tensor with gaps or
// repeated elements gets.
void kwi_strides_densify(const int64_t *sizes, const int64_t *strides, uint32_t dim,
                         int64_t *out_strides);

// The stride that a dimension of size 1 gets further out than another one: its size times its
// stride, or 1 where that does not fit. It is never multiplied with an index other than 0.
int64_t kwi_stride_around(int64_t size, int64_t stride);

// The flags of contiguity among the bits of kw_tensor.flags, all of KWI_SHAPE_FLAGS.
uint16_t kwi_shape_flags(const int64_t *sizes, const int64_t *strides, uint32_t dim);
#define KWI_SHAPE_FLAGS                                                                            \
    (KWI_TENSOR_CONTIGUOUS | KWI_TENSOR_CHANNELS_LAST | KWI_TENSOR_CHANNELS_LAST_3D |              \
     KWI_TENSOR_LIKE_CHANNELS_LAST | KWI_TENSOR_LIKE_CHANNELS_LAST_3D | KWI_TENSOR_DENSE)

// How many elements, from the beginning of the storage, the shape reaches: 0 without elements.
bool kwi_shape_reach(const int64_t *sizes, const int64_t *strides, uint32_t dim, int64_t offset,
                     int64_t *out_elements);

// The same in bytes.
bool kwi_shape_reach_bytes(const int64_t *sizes, const int64_t *strides, uint32_t dim,
                           int64_t offset, size_t element_bytes, size_t *out_bytes);

#endif // KWI_TENSOR_SHAPE_H
