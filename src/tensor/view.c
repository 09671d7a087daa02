// Views: the public functions, each a function of shapes and a new tensor over the storage.
//
// Layer:   tensor
// Threads: as tensor_view.h says.
// SPDX-License-Identifier: MIT

#include "tensor/view.h"

#include <string.h>

#include <keyway/tensor_view.h>

#include "tensor/failure.h"
#include "tensor/shape_view.h"
#include "tensor/version.h"

kw_status kwi_view_begin(const kw_tensor *tensor, const void *place, kwi_view_shape *out_shape,
                         kw_error *err)
{
    if (tensor == NULL || place == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "there is no tensor, or no place for the result");
    }
    if (!kw_tensor_is_defined(tensor)) {
        return kwi_tensor_fail_undefined(err);
    }
    if (kw_tensor_is_symbolic(tensor)) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "the shape is symbolic: what it gives is for a kernel to say");
    }
    if (tensor->storage == NULL) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "the tensor, of layout %s, has no storage: what it stands for is "
                            "for a kernel to say",
                            kw_layout_name(tensor->layout));
    }
    out_shape->dim = tensor->dim;
    out_shape->offset = tensor->offset;
    memcpy(out_shape->sizes, kw_tensor_sizes(tensor), tensor->dim * sizeof(int64_t));
    memcpy(out_shape->strides, kw_tensor_strides(tensor), tensor->dim * sizeof(int64_t));
    return KW_OK;
}

kw_status kwi_list_check(kw_int_list list, kw_error *err)
{
    return list.data != NULL || list.count == 0
               ? KW_OK
               : kw_error_set(err, KW_INVALID_ARGUMENT, "a list of %zu integers has no elements",
                              list.count);
}

kwi_geometry kwi_view_geometry(const kwi_view_shape *shape)
{
    return (kwi_geometry){shape->sizes, shape->strides, shape->offset, shape->dim};
}

kw_keyset kwi_view_keys(const kw_tensor *tensor)
{
    const uint64_t left_out = KW_KEYSET_PYTHON | KW_KEYSET_BITS(KW_KEY_Named);
    return kw_keyset_from_bits(tensor->keys & ~left_out);
}

kw_status kwi_view_make(kw_tensor *base, const kwi_view_shape *shape, kw_tensor **out,
                        kw_error *err)
{
    const kwi_tensor_parts parts = {
        .shape = kwi_view_geometry(shape),
        .keys = kwi_view_keys(base),
        .storage = base->storage,
        .device = kw_tensor_device(base),
        .dtype = base->dtype,
        .layout = base->layout,
        .flags = KWI_TENSOR_VIEW,
    };
    kw_tensor *made = NULL;
    kw_status status = kwi_tensor_make(&parts, &made, err);
    if (status == KW_OK) {
        status = kwi_version_share(made, base, err);
    }
    if (status != KW_OK) {
        kw_tensor_release(made);
        return status;
    }
    *out = made;
    return KW_OK;
}

// The end of each function: a view, unless the shape could not be had.
static kw_status finish(kw_status status, kw_tensor *base, const kwi_view_shape *shape,
                        kw_tensor **out, kw_error *err)
{
    return status == KW_OK ? kwi_view_make(base, shape, out, err) : status;
}

kw_status kw_tensor_alias(kw_tensor *tensor, kw_tensor **out, kw_error *err)
{
    kwi_view_shape shape;
    kw_status status = kwi_view_begin(tensor, out, &shape, err);
    return finish(status, tensor, &shape, out, err);
}

// NOLINTNEXTLINE(readability-function-size): what a slice is
kw_status kw_tensor_slice(kw_tensor *tensor, int64_t dim, int64_t start, int64_t end, int64_t step,
                          kw_tensor **out, kw_error *err)
{
    kwi_view_shape shape;
    kw_status status = kwi_view_begin(tensor, out, &shape, err);
    if (status == KW_OK) {
        status = kwi_shape_slice(&shape, dim, start, end, step, err);
    }
    return finish(status, tensor, &shape, out, err);
}

kw_status kw_tensor_select(kw_tensor *tensor, int64_t dim, int64_t index, kw_tensor **out,
                           kw_error *err)
{
    kwi_view_shape shape;
    kw_status status = kwi_view_begin(tensor, out, &shape, err);
    if (status == KW_OK) {
        status = kwi_shape_select(&shape, dim, index, err);
    }
    return finish(status, tensor, &shape, out, err);
}

kw_status kw_tensor_narrow(kw_tensor *tensor, int64_t dim, int64_t start, int64_t length,
                           kw_tensor **out, kw_error *err)
{
    kwi_view_shape shape;
    kw_status status = kwi_view_begin(tensor, out, &shape, err);
    if (status == KW_OK) {
        status = kwi_shape_narrow(&shape, dim, start, length, err);
    }
    return finish(status, tensor, &shape, out, err);
}

kw_status kw_tensor_transpose(kw_tensor *tensor, int64_t dim_0, int64_t dim_1, kw_tensor **out,
                              kw_error *err)
{
    kwi_view_shape shape;
    kw_status status = kwi_view_begin(tensor, out, &shape, err);
    if (status == KW_OK) {
        status = kwi_shape_transpose(&shape, dim_0, dim_1, err);
    }
    return finish(status, tensor, &shape, out, err);
}

kw_status kw_tensor_squeeze(kw_tensor *tensor, int64_t dim, kw_tensor **out, kw_error *err)
{
    kwi_view_shape shape;
    kw_status status = kwi_view_begin(tensor, out, &shape, err);
    if (status == KW_OK) {
        status = kwi_shape_squeeze(&shape, dim, err);
    }
    return finish(status, tensor, &shape, out, err);
}

kw_status kw_tensor_unsqueeze(kw_tensor *tensor, int64_t dim, kw_tensor **out, kw_error *err)
{
    kwi_view_shape shape;
    kw_status status = kwi_view_begin(tensor, out, &shape, err);
    if (status == KW_OK) {
        status = kwi_shape_unsqueeze(&shape, dim, err);
    }
    return finish(status, tensor, &shape, out, err);
}

// Of lists ----------------------------------------------------------------------------------------

static kw_status begin_with(const kw_tensor *tensor, kw_int_list list, const void *place,
                            kwi_view_shape *out_shape, kw_error *err)
{
    kw_status status = kwi_view_begin(tensor, place, out_shape, err);
    return status == KW_OK ? kwi_list_check(list, err) : status;
}

kw_status kw_tensor_permute(kw_tensor *tensor, kw_int_list dims, kw_tensor **out, kw_error *err)
{
    kwi_view_shape shape;
    kw_status status = begin_with(tensor, dims, out, &shape, err);
    if (status == KW_OK) {
        status = kwi_shape_permute(&shape, dims, err);
    }
    return finish(status, tensor, &shape, out, err);
}

kw_status kw_tensor_expand(kw_tensor *tensor, kw_int_list sizes, kw_tensor **out, kw_error *err)
{
    kwi_view_shape shape;
    kw_status status = begin_with(tensor, sizes, out, &shape, err);
    if (status == KW_OK) {
        status = kwi_shape_expand(&shape, sizes, err);
    }
    return finish(status, tensor, &shape, out, err);
}

kw_status kw_tensor_as_strided(kw_tensor *tensor, kw_int_list sizes, kw_int_list strides,
                               int64_t storage_offset, kw_tensor **out, kw_error *err)
{
    kwi_view_shape shape;
    kw_status status = begin_with(tensor, sizes, out, &shape, err);
    if (status == KW_OK) {
        status = kwi_list_check(strides, err);
    }
    if (status == KW_OK) {
        status = kwi_shape_set(&shape, sizes, strides, storage_offset, err);
    }
    if (status == KW_OK) {
        status = kwi_shape_check_reach(&shape, kw_dtype_bytes(tensor->dtype),
                                       kw_storage_bytes(tensor->storage), err);
    }
    return finish(status, tensor, &shape, out, err);
}

// A shape of other sizes; `*out_is_view` says whether strides can express it. If not, the shape has
// the sizes and no more.
static kw_status view_shape(const kw_tensor *tensor, kw_int_list sizes, const void *place,
                            kwi_view_shape *shape, bool *out_is_view, kw_error *err)
{
    int64_t found[KW_TENSOR_DIM_MAX];
    kw_status status = begin_with(tensor, sizes, place, shape, err);
    if (status == KW_OK) {
        status = kwi_sizes_infer(shape, sizes, found, err);
    }
    if (status == KW_OK) {
        *out_is_view = kwi_shape_view(shape, found, (uint32_t)sizes.count);
        if (!*out_is_view) {
            shape->dim = (uint32_t)sizes.count;
            memcpy(shape->sizes, found, sizes.count * sizeof found[0]);
        }
    }
    return status;
}

kw_status kw_tensor_view(kw_tensor *tensor, kw_int_list sizes, kw_tensor **out, kw_error *err)
{
    kwi_view_shape shape;
    bool is_view = false;
    kw_status status = view_shape(tensor, sizes, out, &shape, &is_view, err);
    if (status == KW_OK && !is_view) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "no strides express these sizes over the elements as they lie; "
                            "kw_tensor_reshape() copies them");
    }
    return finish(status, tensor, &shape, out, err);
}

kw_status kw_tensor_reshape(kw_tensor *tensor, kw_int_list sizes, kw_tensor **out, kw_error *err)
{
    kwi_view_shape shape;
    bool is_view = false;
    kw_status status = view_shape(tensor, sizes, out, &shape, &is_view, err);
    if (status != KW_OK || is_view) {
        return finish(status, tensor, &shape, out, err);
    }
    kw_tensor *copy = NULL;
    status = kw_tensor_clone(tensor, KW_MEMORY_CONTIGUOUS, &copy, err);
    if (status == KW_OK) {
        shape.offset = 0;
        (void)kwi_strides_of_format(shape.sizes, shape.dim, KW_MEMORY_CONTIGUOUS, shape.strides);
        const kwi_geometry geometry = kwi_view_geometry(&shape);
        status = kwi_tensor_set_shape(copy, &geometry, err);
    }
    if (status != KW_OK) {
        kw_tensor_release(copy);
        return status;
    }
    *out = copy;
    return KW_OK;
}
