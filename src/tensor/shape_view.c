// Shapes of views that take a dimension apart or away, or change the order.
//
// Layer:   tensor
// Threads: any; pure functions.
// SPDX-License-Identifier: MIT

#include "tensor/shape_view.h"

#include <inttypes.h>
#include <string.h>

// A dimension given from either end, among `count` of them.
static kw_status wrap_dim(int64_t dim, uint32_t count, uint32_t *out_dim, kw_error *err)
{
    if (count == 0) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "there is no dimension %" PRId64 ": the tensor has none", dim);
    }
    if (dim < -(int64_t)count || dim >= (int64_t)count) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "there is no dimension %" PRId64 ": it can be %d to %d", dim,
                            -(int)count, (int)count - 1);
    }
    *out_dim = (uint32_t)(dim < 0 ? dim + count : dim);
    return KW_OK;
}

// The same where a tensor without dimensions is taken for one with a dimension of size 1.
static kw_status wrap_dim_of_scalar(int64_t dim, uint32_t count, uint32_t *out_dim, kw_error *err)
{
    return wrap_dim(dim, count > 0 ? count : 1, out_dim, err);
}

static void remove_dim(kwi_view_shape *shape, uint32_t at)
{
    size_t bytes = (shape->dim - at - 1) * sizeof shape->sizes[0];
    memmove(shape->sizes + at, shape->sizes + at + 1, bytes);
    memmove(shape->strides + at, shape->strides + at + 1, bytes);
    shape->dim--;
}

// Moves the first element by `steps` of a dimension.
static kw_status move_offset(kwi_view_shape *shape, uint32_t at, int64_t steps, kw_error *err)
{
    int64_t elements = 0;
    if (__builtin_mul_overflow(steps, shape->strides[at], &elements) ||
        __builtin_add_overflow(shape->offset, elements, &shape->offset)) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "the offset of element %" PRId64
                            " of dimension %u exceeds 63 bits: its stride is %" PRId64,
                            steps, at, shape->strides[at]);
    }
    return KW_OK;
}

// An index given from either end, 0 to `size`; what lies outside becomes one of them.
static int64_t clamp_index(int64_t index, int64_t size)
{
    if (index < 0) {
        index += size; // neither is negative when the other is not
    }
    if (index < 0) {
        return 0;
    }
    return index < size ? index : size;
}

// Every `step`-th of `length` elements.
static kw_status step_over(kwi_view_shape *shape, uint32_t at, int64_t length, int64_t step,
                           kw_error *err)
{
    shape->sizes[at] = length / step + (length % step != 0);
    int64_t stride = 0;
    if (!__builtin_mul_overflow(shape->strides[at], step, &stride)) {
        shape->strides[at] = stride;
    } else if (shape->sizes[at] > 1) { // else no index is ever multiplied with it
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "a step of %" PRId64 " in dimension %u exceeds 63 bits: its stride "
                            "is %" PRId64,
                            step, at, shape->strides[at]);
    }
    return KW_OK;
}

kw_status kwi_shape_slice(kwi_view_shape *shape, int64_t dim, int64_t start, int64_t end,
                          int64_t step, kw_error *err)
{
    uint32_t at = 0;
    kw_status status = wrap_dim(dim, shape->dim, &at, err);
    if (status != KW_OK) {
        return status;
    }
    if (step <= 0) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "a slice of dimension %u has the step %" PRId64
                            ", which has to be 1 or more",
                            at, step);
    }
    int64_t size = shape->sizes[at];
    start = clamp_index(start, size);
    end = clamp_index(end, size);
    status = move_offset(shape, at, start, err);
    return status == KW_OK ? step_over(shape, at, end > start ? end - start : 0, step, err)
                           : status;
}

kw_status kwi_shape_select(kwi_view_shape *shape, int64_t dim, int64_t index, kw_error *err)
{
    uint32_t at = 0;
    kw_status status = wrap_dim(dim, shape->dim, &at, err);
    if (status != KW_OK) {
        return status;
    }
    int64_t size = shape->sizes[at];
    if (index < -size || index >= size) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "there is no element %" PRId64 " in dimension %u, whose size is "
                            "%" PRId64,
                            index, at, size);
    }
    status = move_offset(shape, at, index < 0 ? index + size : index, err);
    if (status == KW_OK) {
        remove_dim(shape, at);
    }
    return status;
}

kw_status kwi_shape_narrow(kwi_view_shape *shape, int64_t dim, int64_t start, int64_t length,
                           kw_error *err)
{
    uint32_t at = 0;
    kw_status status = wrap_dim(dim, shape->dim, &at, err);
    if (status != KW_OK) {
        return status;
    }
    int64_t size = shape->sizes[at];
    int64_t first = start < 0 && start >= -size ? start + size : start;
    if (length < 0 || first < 0 || first > size || length > size - first) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "%" PRId64 " elements from %" PRId64
                            " on are not in dimension %u, whose size is %" PRId64,
                            length, start, at, size);
    }
    shape->sizes[at] = length;
    return move_offset(shape, at, first, err);
}

static void swap(int64_t *numbers, uint32_t a, uint32_t b)
{
    int64_t number = numbers[a];
    numbers[a] = numbers[b];
    numbers[b] = number;
}

kw_status kwi_shape_transpose(kwi_view_shape *shape, int64_t dim_0, int64_t dim_1, kw_error *err)
{
    uint32_t a = 0;
    uint32_t b = 0;
    kw_status status = wrap_dim_of_scalar(dim_0, shape->dim, &a, err);
    if (status == KW_OK) {
        status = wrap_dim_of_scalar(dim_1, shape->dim, &b, err);
    }
    if (status == KW_OK && a != b) {
        swap(shape->sizes, a, b);
        swap(shape->strides, a, b);
    }
    return status;
}

kw_status kwi_shape_permute(kwi_view_shape *shape, kw_int_list dims, kw_error *err)
{
    if (dims.count != shape->dim) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "the order names %zu dimensions of %u that there are", dims.count,
                            shape->dim);
    }
    kwi_view_shape before = *shape;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < shape->dim; i++) {
        uint32_t from = 0;
        kw_status status = wrap_dim(dims.data[i], shape->dim, &from, err);
        if (status != KW_OK) {
            return status;
        }
        if ((seen >> from & 1) != 0) {
            return kw_error_set(err, KW_INVALID_ARGUMENT, "the order names dimension %u twice",
                                from);
        }
        seen |= UINT64_C(1) << from;
        shape->sizes[i] = before.sizes[from];
        shape->strides[i] = before.strides[from];
    }
    return KW_OK;
}

kw_status kwi_shape_squeeze(kwi_view_shape *shape, int64_t dim, kw_error *err)
{
    uint32_t at = 0;
    kw_status status = wrap_dim_of_scalar(dim, shape->dim, &at, err);
    if (status == KW_OK && at < shape->dim && shape->sizes[at] == 1) {
        remove_dim(shape, at);
    }
    return status;
}

kw_status kwi_shape_unsqueeze(kwi_view_shape *shape, int64_t dim, kw_error *err)
{
    uint32_t at = 0;
    kw_status status = wrap_dim(dim, shape->dim + 1, &at, err);
    if (status != KW_OK) {
        return status;
    }
    if (shape->dim == KW_TENSOR_DIM_MAX) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "the tensor has %d dimensions, and cannot have more",
                            KW_TENSOR_DIM_MAX);
    }
    int64_t stride = at < shape->dim ? kwi_stride_around(shape->sizes[at], shape->strides[at]) : 1;
    size_t bytes = (shape->dim - at) * sizeof shape->sizes[0];
    memmove(shape->sizes + at + 1, shape->sizes + at, bytes);
    memmove(shape->strides + at + 1, shape->strides + at, bytes);
    shape->sizes[at] = 1;
    shape->strides[at] = stride;
    shape->dim++;
    return KW_OK;
}
