// Shapes: counting elements, strides of memory formats, reach into a storage.
//
// Layer:   tensor
// Threads: any; pure functions.
// SPDX-License-Identifier: MIT

#include "tensor/shape.h"

#include <string.h>

#include <keyway/dtype.h>

bool kwi_sizes_count(const int64_t *sizes, uint32_t dim, int64_t *out_count)
{
    int64_t product = 1; // of the sizes other than 0: A2
    bool is_empty = false;
    if (dim > KW_TENSOR_DIM_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < dim; i++) {
        if (sizes[i] < 0) {
            return false;
        }
        if (sizes[i] == 0) {
            is_empty = true;
        } else if (__builtin_mul_overflow(product, sizes[i], &product)) {
            return false;
        }
    }
    *out_count = is_empty ? 0 : product;
    return true;
}

bool kwi_format_order(uint8_t memory_format, uint32_t dim, uint8_t *out_order)
{
    static const uint8_t channels_last[] = {1, 3, 2, 0};
    static const uint8_t channels_last_3d[] = {1, 4, 3, 2, 0};
    switch (memory_format) {
    case KW_MEMORY_CHANNELS_LAST:
        if (dim == sizeof channels_last) {
            memcpy(out_order, channels_last, sizeof channels_last);
        }
        return dim == sizeof channels_last;
    case KW_MEMORY_CHANNELS_LAST_3D:
        if (dim == sizeof channels_last_3d) {
            memcpy(out_order, channels_last_3d, sizeof channels_last_3d);
        }
        return dim == sizeof channels_last_3d;
    case KW_MEMORY_CONTIGUOUS:
    case KW_MEMORY_PRESERVE:
        for (uint32_t i = 0; i < dim; i++) {
            out_order[i] = (uint8_t)(dim - 1 - i);
        }
        return true;
    default:
        return false;
    }
}

bool kwi_strides_of_format(const int64_t *sizes, uint32_t dim, uint8_t memory_format,
                           int64_t *out_strides)
{
    uint8_t order[KW_TENSOR_DIM_MAX];
    if (!kwi_format_order(memory_format, dim, order)) {
        return false;
    }
    // A size of 0 counts as 1. Not so with channels last: it gives strides of 0 further out, which
    // is what the original does, and what its test of the format expects.
    int64_t least =
        memory_format == KW_MEMORY_CHANNELS_LAST || memory_format == KW_MEMORY_CHANNELS_LAST_3D ? 0
                                                                                                : 1;
    int64_t stride = 1;
    for (uint32_t i = 0; i < dim; i++) {
        int64_t size = sizes[order[i]];
        out_strides[order[i]] = stride;
        stride *= size > least ? size : least;
    }
    return true;
}

// Whether dimension `a` has to lie further out than `b`: 1; further in: -1; 0: it is not known. A
// stride of 0 says nothing; of equal ones the longer dimension lies further out.
static int compare_dims(const int64_t *sizes, const int64_t *strides, uint8_t a, uint8_t b)
{
    if (strides[a] == 0 || strides[b] == 0) {
        return 0;
    }
    if (strides[a] != strides[b]) {
        return strides[a] < strides[b] ? -1 : 1;
    }
    return sizes[a] > sizes[b] ? 1 : 0;
}

// An order that is not total wants this very sort, the original's: another one, as right in itself,
// gives other strides where the order is not known.
static void order_dims(const int64_t *sizes, const int64_t *strides, uint32_t dim,
                       uint8_t *out_order)
{
    for (uint32_t i = 0; i < dim; i++) {
        out_order[i] = (uint8_t)(dim - 1 - i);
    }
    for (uint32_t i = 1; i < dim; i++) {
        uint32_t at = i;
        for (uint32_t other = i; other-- > 0;) {
            int order = compare_dims(sizes, strides, out_order[other], out_order[at]);
            if (order < 0) {
                break;
            }
            if (order > 0) {
                uint8_t moved = out_order[at];
                out_order[at] = out_order[other];
                out_order[other] = moved;
                at = other;
            }
        }
    }
}

void kwi_strides_densify(const int64_t *sizes, const int64_t *strides, uint32_t dim,
                         int64_t *out_strides)
{
    uint8_t order[KW_TENSOR_DIM_MAX];
    order_dims(sizes, strides, dim, order);
    int64_t stride = 1;
    for (uint32_t i = 0; i < dim; i++) {
        out_strides[order[i]] = stride;
        stride *= sizes[order[i]] > 0 ? sizes[order[i]] : 1;
    }
}

int64_t kwi_stride_around(int64_t size, int64_t stride)
{
    int64_t product = 0;
    return __builtin_mul_overflow(size, stride, &product) ? 1 : product;
}

bool kwi_shape_reach(const int64_t *sizes, const int64_t *strides, uint32_t dim, int64_t offset,
                     int64_t *out_elements)
{
    int64_t reach = 0;
    for (uint32_t i = 0; i < dim; i++) {
        if (sizes[i] == 0) {
            *out_elements = 0; // whatever the offset and the other dimensions are
            return true;
        }
    }
    if (__builtin_add_overflow(offset, 1, &reach)) {
        return false;
    }
    for (uint32_t i = 0; i < dim; i++) {
        int64_t steps = 0;
        if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &steps) ||
            __builtin_add_overflow(reach, steps, &reach)) {
            return false;
        }
    }
    *out_elements = reach;
    return true;
}

bool kwi_shape_reach_bytes(const int64_t *sizes, const int64_t *strides, uint32_t dim,
                           int64_t offset, size_t element_bytes, size_t *out_bytes)
{
    int64_t elements = 0;
    size_t bytes = 0;
    if (!kwi_shape_reach(sizes, strides, dim, offset, &elements) ||
        __builtin_mul_overflow((size_t)elements, element_bytes, &bytes)) {
        return false;
    }
    *out_bytes = bytes;
    return true;
}
