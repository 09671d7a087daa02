// Resizing in place: other sizes for a tensor, and room for them in its storage.
//
// Layer:   tensor
// Threads: as tensor_view.h says.
// SPDX-License-Identifier: MIT

#include <keyway/tensor_view.h>

#include "tensor/shape_view.h"
#include "tensor/view.h"

static kw_status grow(kw_storage *storage, const kwi_view_shape *shape, uint8_t dtype,
                      kw_error *err)
{
    size_t bytes = 0;
    if (!kwi_shape_reach_bytes(shape->sizes, shape->strides, shape->dim, shape->offset,
                               kw_dtype_bytes(dtype), &bytes)) {
        return kw_error_set(err, KW_NO_MEMORY,
                            "the last element would lie beyond what 64 bits can count in bytes");
    }
    return bytes > kw_storage_bytes(storage) ? kw_storage_resize(storage, bytes, err) : KW_OK;
}

static bool has_sizes(const kwi_view_shape *shape, kw_int_list sizes)
{
    bool is_equal = sizes.count == shape->dim;
    for (uint32_t i = 0; i < shape->dim && is_equal; i++) {
        is_equal = sizes.data[i] == shape->sizes[i];
    }
    return is_equal;
}

kw_status kw_tensor_resize(kw_tensor *tensor, kw_int_list sizes, kw_error *err)
{
    kwi_view_shape shape;
    kw_status status = kwi_view_begin(tensor, tensor, &shape, err);
    if (status == KW_OK) {
        status = kwi_list_check(sizes, err);
    }
    if (status == KW_OK) {
        status = kwi_sizes_check(sizes, err);
    }
    if (status != KW_OK) {
        return status;
    }
    if (has_sizes(&shape, sizes)) {
        return KW_OK; // the strides stay as they are, as in the original
    }
    if (kw_tensor_has_names(tensor)) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "the dimensions have names, which would not fit; take them away "
                            "with kw_tensor_set_names()");
    }
    shape.dim = (uint32_t)sizes.count;
    for (uint32_t i = 0; i < shape.dim; i++) {
        shape.sizes[i] = sizes.data[i];
    }
    (void)kwi_strides_of_format(shape.sizes, shape.dim, KW_MEMORY_CONTIGUOUS, shape.strides);

    // A tensor of the new shape first: after the storage has grown nothing may fail.
    kw_tensor *shaped = NULL;
    status = kwi_view_make(tensor, &shape, &shaped, err);
    if (status == KW_OK) {
        status = grow(tensor->storage, &shape, tensor->dtype, err);
    }
    if (status == KW_OK) {
        kwi_view_swap_shapes(tensor, shaped);
    }
    kw_tensor_release(shaped);
    return status;
}
