// Shapes of views with other sizes: expanding, viewing, and sizes and strides as given.
//
// Layer:   tensor
// Threads: any; pure functions.
// SPDX-License-Identifier: MIT

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <keyway/dtype.h>

#include "tensor/shape_view.h"

// Enough for 64 small numbers. A longer list is cut.
#define LIST_BYTES 256

// "[2, 3]", for texts.
static const char *print_list(kw_int_list list, char buffer[LIST_BYTES])
{
    size_t length = 1;
    buffer[0] = '[';
    for (size_t i = 0; i < list.count && length < LIST_BYTES - 32; i++) {
        length += (size_t)snprintf(buffer + length, LIST_BYTES - length, "%s%" PRId64,
                                   i > 0 ? ", " : "", list.data[i]);
        if (i + 1 < list.count && length >= LIST_BYTES - 32) {
            length += (size_t)snprintf(buffer + length, LIST_BYTES - length, ", ...");
        }
    }
    (void)snprintf(buffer + length, LIST_BYTES - length, "]");
    return buffer;
}

static kw_status fail_too_many(size_t count, kw_error *err)
{
    return kw_error_set(err, KW_INVALID_ARGUMENT,
                        "%zu dimensions are asked for; a tensor has %d at most", count,
                        KW_TENSOR_DIM_MAX);
}

kw_status kwi_sizes_check(kw_int_list sizes, kw_error *err)
{
    char text[LIST_BYTES];
    int64_t count = 0;
    if (sizes.count > KW_TENSOR_DIM_MAX) {
        return fail_too_many(sizes.count, err);
    }
    for (size_t i = 0; i < sizes.count; i++) {
        if (sizes.data[i] < 0) {
            return kw_error_set(err, KW_INVALID_ARGUMENT,
                                "dimension %zu has the size %" PRId64 ", which is negative", i,
                                sizes.data[i]);
        }
    }
    if (!kwi_sizes_count(sizes.data, (uint32_t)sizes.count, &count)) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "the number of elements of the sizes %s exceeds 63 bits",
                            print_list(sizes, text));
    }
    return KW_OK;
}

// The size and stride of dimension `at` of `after`, whose dimensions further in are there. `from`
// is the dimension of `before` that it comes from, or negative.
static kw_status expand_dim(const kwi_view_shape *before, int64_t from, kwi_view_shape *after,
                            uint32_t at, int64_t wanted, kw_error *err)
{
    int64_t size = from >= 0 ? before->sizes[from] : 1;
    if (wanted < 0 && (wanted != -1 || from < 0)) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "dimension %u cannot have the size %" PRId64
                            "; -1 keeps a size that there is",
                            at, wanted);
    }
    if (wanted >= 0 && wanted != size && size != 1) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "dimension %u has the size %" PRId64
                            " and cannot be expanded to %" PRId64 ": only a size of 1 can be",
                            at, size, wanted);
    }
    after->sizes[at] = wanted < 0 ? size : wanted;
    if (after->sizes[at] != size || before->dim == 0) { // the one element of a scalar is repeated
        after->strides[at] = 0;
    } else if (from >= 0) {
        after->strides[at] = before->strides[from];
    } else {
        after->strides[at] = at + 1 < after->dim
                                 ? kwi_stride_around(after->sizes[at + 1], after->strides[at + 1])
                                 : 1;
    }
    return KW_OK;
}

kw_status kwi_shape_expand(kwi_view_shape *shape, kw_int_list sizes, kw_error *err)
{
    if (sizes.count > KW_TENSOR_DIM_MAX) {
        return fail_too_many(sizes.count, err);
    }
    if (sizes.count < shape->dim) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "%zu sizes are given for a tensor of %u dimensions", sizes.count,
                            shape->dim);
    }
    kwi_view_shape before = *shape;
    shape->dim = (uint32_t)sizes.count;
    for (uint32_t at = shape->dim; at-- > 0;) {
        int64_t from = (int64_t)at - (int64_t)(shape->dim - before.dim);
        kw_status status = expand_dim(&before, from, shape, at, sizes.data[at], err);
        if (status != KW_OK) {
            return status;
        }
    }
    return kwi_sizes_check((kw_int_list){shape->sizes, shape->dim}, err);
}

static kw_status fail_sizes(kw_int_list sizes, int64_t count, kw_error *err)
{
    char text[LIST_BYTES];
    return kw_error_set(err, KW_INVALID_ARGUMENT,
                        "the sizes %s do not hold the %" PRId64 " elements of the tensor",
                        print_list(sizes, text), count);
}

kw_status kwi_sizes_infer(const kwi_view_shape *shape, kw_int_list sizes, int64_t *out_sizes,
                          kw_error *err)
{
    int64_t open = -1; // the dimension that gets what remains
    int64_t count = 0;
    int64_t known = 0;
    if (sizes.count > KW_TENSOR_DIM_MAX) {
        return fail_too_many(sizes.count, err);
    }
    (void)kwi_sizes_count(shape->sizes, shape->dim, &count);
    for (size_t i = 0; i < sizes.count; i++) {
        if (sizes.data[i] == -1 && open >= 0) {
            return kw_error_set(err, KW_INVALID_ARGUMENT,
                                "the sizes of dimensions %d and %zu are both left open", (int)open,
                                i);
        }
        open = sizes.data[i] == -1 ? (int64_t)i : open;
        out_sizes[i] = sizes.data[i] == -1 ? 1 : sizes.data[i];
    }
    kw_status status = kwi_sizes_check((kw_int_list){out_sizes, sizes.count}, err);
    if (status != KW_OK) {
        return status;
    }
    (void)kwi_sizes_count(out_sizes, (uint32_t)sizes.count, &known);
    if (open < 0) {
        return known == count ? KW_OK : fail_sizes(sizes, count, err);
    }
    if (known == 0 && count == 0) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "the size of dimension %d is left open and can be any: the tensor "
                            "has no elements",
                            (int)open);
    }
    if (known == 0 || count % known != 0) {
        return fail_sizes(sizes, count, err);
    }
    out_sizes[open] = count / known;
    return KW_OK;
}

// A run of dimensions, from `at` inwards, whose elements lie at even distances.
typedef struct run {
    int64_t stride; // between two elements
    int64_t count;
} run;

// Takes the innermost run of the first `*at` dimensions.
static run take_run(const kwi_view_shape *shape, uint32_t *at)
{
    uint32_t i = *at - 1;
    run taken = {shape->strides[i], shape->sizes[i]};
    while (i > 0) {
        int64_t even = 0;
        bool is_even = !__builtin_mul_overflow(taken.count, taken.stride, &even) &&
                       shape->strides[i - 1] == even;
        if (shape->sizes[i - 1] != 1 && !is_even) {
            break;
        }
        taken.count *= shape->sizes[i - 1];
        i--;
    }
    *at = i;
    return taken;
}

// The strides of a view of a shape that has elements, as many as the sizes hold: sizes have to
// divide each run of it.
static bool view_strides(const kwi_view_shape *shape, const int64_t *sizes, uint32_t dim,
                         int64_t *out_strides)
{
    uint32_t at = shape->dim;
    uint32_t to = dim;
    while (at > 0) {
        run taken = take_run(shape, &at);
        int64_t placed = 1;
        while (to > 0 && (placed < taken.count || sizes[to - 1] == 1)) {
            to--;
            out_strides[to] = kwi_stride_around(placed, taken.stride);
            placed *= sizes[to];
        }
        if (placed != taken.count) {
            return false;
        }
    }
    return true;
}

bool kwi_shape_view(kwi_view_shape *shape, const int64_t *sizes, uint32_t dim)
{
    int64_t strides[KW_TENSOR_DIM_MAX];
    int64_t count = 0;
    (void)kwi_sizes_count(shape->sizes, shape->dim, &count);
    if (count == 0 && dim == shape->dim && memcmp(sizes, shape->sizes, dim * sizeof *sizes) == 0) {
        return true;
    }
    if (count == 0 || shape->dim == 0) {
        // Without elements, or with one, any strides will do.
        (void)kwi_strides_of_format(sizes, dim, KW_MEMORY_CONTIGUOUS, strides);
    } else if (!view_strides(shape, sizes, dim, strides)) {
        return false;
    }
    shape->dim = dim;
    memcpy(shape->sizes, sizes, dim * sizeof *sizes);
    memcpy(shape->strides, strides, dim * sizeof *strides);
    return true;
}

static kw_status check_strides(kw_int_list sizes, kw_int_list strides, int64_t offset,
                               kw_error *err)
{
    if (sizes.count != strides.count) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "there are %zu sizes and %zu strides",
                            sizes.count, strides.count);
    }
    kw_status status = kwi_sizes_check(sizes, err);
    for (size_t i = 0; i < strides.count && status == KW_OK; i++) {
        if (strides.data[i] < 0) {
            status = kw_error_set(err, KW_INVALID_ARGUMENT,
                                  "dimension %zu has the stride %" PRId64 ", which is negative", i,
                                  strides.data[i]);
        }
    }
    if (status == KW_OK && offset < 0) {
        status = kw_error_set(err, KW_INVALID_ARGUMENT,
                              "the offset is %" PRId64 ", which is negative", offset);
    }
    return status;
}

kw_status kwi_shape_set(kwi_view_shape *shape, kw_int_list sizes, kw_int_list strides,
                        int64_t offset, kw_error *err)
{
    kw_status status = check_strides(sizes, strides, offset, err);
    if (status != KW_OK) {
        return status;
    }
    shape->dim = (uint32_t)sizes.count;
    shape->offset = offset;
    for (uint32_t i = 0; i < shape->dim; i++) {
        shape->sizes[i] = sizes.data[i];
        shape->strides[i] = strides.data[i];
    }
    return KW_OK;
}

kw_status kwi_shape_check_reach(const kwi_view_shape *shape, size_t element_bytes,
                                size_t storage_bytes, kw_error *err)
{
    char sizes[LIST_BYTES];
    char strides[LIST_BYTES];
    size_t bytes = 0;
    bool is_counted = kwi_shape_reach_bytes(shape->sizes, shape->strides, shape->dim, shape->offset,
                                            element_bytes, &bytes);
    if (is_counted && bytes <= storage_bytes) {
        return KW_OK;
    }
    (void)print_list((kw_int_list){shape->sizes, shape->dim}, sizes);
    (void)print_list((kw_int_list){shape->strides, shape->dim}, strides);
    if (!is_counted) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "the sizes %s with the strides %s from element %" PRId64
                            " on reach further than 63 bits; the storage has %zu bytes",
                            sizes, strides, shape->offset, storage_bytes);
    }
    return kw_error_set(err, KW_INVALID_ARGUMENT,
                        "the sizes %s with the strides %s from element %" PRId64
                        " on need %zu bytes; the storage has %zu",
                        sizes, strides, shape->offset, bytes, storage_bytes);
}
