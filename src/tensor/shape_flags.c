// Shapes: how elements lie in memory, as flags. The rules are the original's, with its decisions
// for sizes of 0 and 1.
//
// Layer:   tensor
// Threads: any; pure functions.
// SPDX-License-Identifier: MIT

#include <keyway/dtype.h>

#include "tensor/shape.h"

// Whether the dimensions that have more than one index lie without gaps in this order, the
// innermost first.
static bool lies_in_order(const int64_t *sizes, const int64_t *strides, const uint8_t *order,
                          uint32_t dim)
{
    int64_t expected = 1;
    for (uint32_t i = 0; i < dim; i++) {
        int64_t size = sizes[order[i]];
        if (size != 1) {
            if (strides[order[i]] != expected) {
                return false;
            }
            expected *= size;
        }
    }
    return true;
}

static bool is_empty(const int64_t *sizes, uint32_t dim)
{
    for (uint32_t i = 0; i < dim; i++) {
        if (sizes[i] == 0) {
            return true;
        }
    }
    return false;
}

static bool is_contiguous(const int64_t *sizes, const int64_t *strides, uint32_t dim)
{
    uint8_t order[KW_TENSOR_DIM_MAX];
    (void)kwi_format_order(KW_MEMORY_CONTIGUOUS, dim, order);
    return is_empty(sizes, dim) || lies_in_order(sizes, strides, order, dim);
}

// Whether strides rise in this order, the channels (the first of the order) innermost, with gaps or
// not. Where sizes of 1 leave the order open, it is not: plain contiguous wins.
static bool rises_in_order(const int64_t *sizes, const int64_t *strides, const uint8_t *order,
                           uint32_t dim)
{
    int64_t least = 0;
    if (strides[order[0]] == 0) {
        return false;
    }
    for (uint32_t i = 0; i < dim; i++) {
        int64_t size = sizes[order[i]];
        int64_t stride = strides[order[i]];
        if (size == 0 || stride < least) {
            return false;
        }
        // All but the batch have one index, and its stride is theirs: N111, contiguous or cut.
        if (i + 1 == dim && least == strides[order[0]]) {
            return false;
        }
        if (__builtin_mul_overflow(stride, size, &least)) {
            least = INT64_MAX;
        }
    }
    return true;
}

// Dimensions by stride, those with fewer than two indices last. Equal strides of several indices
// are no dense order anyway.
static void order_by_stride(const int64_t *sizes, const int64_t *strides, uint32_t dim,
                            uint8_t *out_order)
{
    for (uint32_t i = 0; i < dim; i++) {
        uint32_t at = i;
        while (at > 0 && sizes[i] >= 2 &&
               (sizes[out_order[at - 1]] < 2 || strides[i] < strides[out_order[at - 1]])) {
            out_order[at] = out_order[at - 1];
            at--;
        }
        out_order[at] = (uint8_t)i;
    }
}

// Whether no two indices share an element and the elements fill a range, in whatever order.
static bool is_dense(const int64_t *sizes, const int64_t *strides, uint32_t dim)
{
    uint8_t order[KW_TENSOR_DIM_MAX];
    order_by_stride(sizes, strides, dim, order);
    int64_t expected = 1;
    for (uint32_t i = 0; i < dim && sizes[order[i]] >= 2; i++) {
        if (strides[order[i]] != expected) {
            return false;
        }
        expected *= sizes[order[i]];
    }
    return true;
}

static uint16_t flags_of_format(const int64_t *sizes, const int64_t *strides, uint32_t dim,
                                uint8_t memory_format)
{
    bool is_3d = memory_format == KW_MEMORY_CHANNELS_LAST_3D;
    uint8_t order[KW_TENSOR_DIM_MAX];
    uint16_t flags = 0;
    if (!kwi_format_order(memory_format, dim, order)) {
        return 0;
    }
    if (lies_in_order(sizes, strides, order, dim)) {
        flags |= is_3d ? KWI_TENSOR_CHANNELS_LAST_3D : KWI_TENSOR_CHANNELS_LAST;
    }
    if (rises_in_order(sizes, strides, order, dim)) {
        flags |= is_3d ? KWI_TENSOR_LIKE_CHANNELS_LAST_3D : KWI_TENSOR_LIKE_CHANNELS_LAST;
    }
    return flags;
}

uint16_t kwi_shape_flags(const int64_t *sizes, const int64_t *strides, uint32_t dim)
{
    uint16_t flags = flags_of_format(sizes, strides, dim, KW_MEMORY_CHANNELS_LAST) |
                     flags_of_format(sizes, strides, dim, KW_MEMORY_CHANNELS_LAST_3D);
    if (is_contiguous(sizes, strides, dim)) {
        flags |= KWI_TENSOR_CONTIGUOUS | KWI_TENSOR_DENSE;
    } else if ((flags & (KWI_TENSOR_CHANNELS_LAST | KWI_TENSOR_CHANNELS_LAST_3D)) != 0 ||
               is_dense(sizes, strides, dim)) {
        flags |= KWI_TENSOR_DENSE;
    }
    return flags;
}
