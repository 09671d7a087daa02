// Layout: tensors whose elements lie channel by channel within each pixel (NHWC), and their tag.
//
// Layer:   example (uses keyway/tensor.h)
// Threads: any
// SPDX-License-Identifier: MIT

#include "layout.h"

#include <xnnpack.h>

#include <keyway/call.h>

enum {
    IMAGE_DIM = 4
};

bool xnnpack_is_tagged(const kw_tensor *tensor)
{
    return tensor != NULL &&
           kw_keyset_has_all(kw_tensor_keyset(tensor), kw_keyset_from_key(XNNPACK_TAG));
}

kw_keyset xnnpack_keys_below(kw_keyset keys)
{
    return kw_keyset_remove(keys, XNNPACK_TAG);
}

kw_status xnnpack_float_check(const kw_tensor *tensor, const char *name)
{
    if (kw_tensor_dtype(tensor) != KW_DTYPE_FLOAT32 || !kw_tensor_is_on(tensor, KW_DEVICE_CPU) ||
        kw_tensor_is_symbolic(tensor) || kw_tensor_storage(tensor) == NULL) {
        return kw_fail(KW_WRONG_VALUE, "%s is not a float32 tensor in memory of the CPU", name);
    }
    return KW_OK;
}

// Whether XNNPACK may read behind the elements of a tensor without gaps.
static bool has_extra_bytes(const kw_tensor *tensor)
{
    const size_t end =
        (size_t)(kw_tensor_storage_offset(tensor) + kw_tensor_numel(tensor)) * sizeof(float);
    return kw_storage_bytes(kw_tensor_storage(tensor)) >= end + XNN_EXTRA_BYTES;
}

// An inference tensor, as the server's are: autograd keys would lead calls elsewhere.
static kw_status create(uint32_t dim, const int64_t *sizes, const int64_t *strides,
                        kw_tensor **out_tensor, kw_error *err)
{
    size_t bytes = sizeof(float);
    for (uint32_t i = 0; i < dim; i++) {
        bytes *= (size_t)sizes[i];
    }
    kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = sizes,
        .dim = dim,
        .dtype = KW_DTYPE_FLOAT32,
        .inference = KW_INFERENCE_ALWAYS,
        .device = {KW_DEVICE_CPU, -1},
        .strides = strides,
    };
    kw_status status =
        kw_storage_create(bytes + XNN_EXTRA_BYTES, options.device, &options.storage, err);
    if (status == KW_OK) {
        status = kw_tensor_create(&options, out_tensor, err);
        kw_storage_release(options.storage);
    }
    return status;
}

static kw_status values_of(kw_tensor *tensor, float **out_values, kw_error *err)
{
    void *values = NULL;
    const kw_status status = kw_tensor_mutable_data(tensor, &values, err);
    if (status == KW_OK) {
        *out_values = values;
    }
    return status;
}

kw_status xnnpack_image_create(const int64_t sizes[4], kw_tensor **out_tensor, float **out_values)
{
    const int64_t strides[IMAGE_DIM] = {
        sizes[1] * sizes[2] * sizes[3],
        1,
        sizes[1] * sizes[3],
        sizes[1],
    };
    kw_error err = KW_ERROR_INIT;
    kw_tensor *tensor = NULL;
    kw_status status = create(IMAGE_DIM, sizes, strides, &tensor, &err);
    if (status == KW_OK) {
        status =
            kw_tensor_change_keys(tensor, kw_keyset_from_key(XNNPACK_TAG), kw_keyset_empty(), &err);
    }
    if (status == KW_OK) {
        status = values_of(tensor, out_values, &err);
    }
    if (status != KW_OK) {
        kw_tensor_release(tensor);
        return kw_fail(status, "%s", err.text);
    }
    *out_tensor = tensor;
    return KW_OK;
}

// Goes to the next row: counts up the indices of all dimensions but the last, and moves both
// offsets with them. False after the last row.
static bool next_row(const kw_tensor *from, const kw_tensor *to, int64_t *indices,
                     int64_t *from_offset, int64_t *to_offset)
{
    for (uint32_t i = kw_tensor_dim(from) - 1; i-- > 0;) {
        const int64_t size = kw_tensor_sizes(from)[i];
        *from_offset += kw_tensor_strides(from)[i];
        *to_offset += kw_tensor_strides(to)[i];
        if (++indices[i] < size) {
            return true;
        }
        *from_offset -= size * kw_tensor_strides(from)[i];
        *to_offset -= size * kw_tensor_strides(to)[i];
        indices[i] = 0;
    }
    return false;
}

// Copies the elements between tensors of the same sizes and other strides.
static void copy(const kw_tensor *from, const kw_tensor *to, float *values)
{
    const float *source = kw_tensor_data(from);
    const uint32_t dim = kw_tensor_dim(from);
    if (kw_tensor_numel(from) == 0) {
        return;
    }
    if (dim == 0) {
        values[0] = source[0];
        return;
    }
    const int64_t count = kw_tensor_sizes(from)[dim - 1];
    const int64_t source_stride = kw_tensor_strides(from)[dim - 1];
    const int64_t stride = kw_tensor_strides(to)[dim - 1];
    int64_t indices[KW_TENSOR_DIM_MAX] = {0};
    int64_t source_offset = 0;
    int64_t offset = 0;
    do {
        for (int64_t i = 0; i < count; i++) {
            values[offset + i * stride] = source[source_offset + i * source_stride];
        }
    } while (next_row(from, to, indices, &source_offset, &offset));
}

kw_status xnnpack_image_of(kw_tensor *x, kw_tensor **out_tensor)
{
    if (kw_tensor_is_contiguous_as(x, KW_MEMORY_CHANNELS_LAST) && has_extra_bytes(x)) {
        kw_tensor_retain(x);
        *out_tensor = x;
        return KW_OK;
    }
    float *values = NULL;
    const kw_status status = xnnpack_image_create(kw_tensor_sizes(x), out_tensor, &values);
    if (status == KW_OK) {
        copy(x, *out_tensor, values);
    }
    return status;
}

kw_status xnnpack_plain_of(kw_tensor *x, kw_tensor **out_tensor)
{
    if (kw_tensor_is_contiguous(x) && !xnnpack_is_tagged(x) && has_extra_bytes(x)) {
        kw_tensor_retain(x);
        *out_tensor = x;
        return KW_OK;
    }
    kw_error err = KW_ERROR_INIT;
    kw_tensor *plain = NULL;
    float *values = NULL;
    kw_status status = create(kw_tensor_dim(x), kw_tensor_sizes(x), NULL, &plain, &err);
    if (status == KW_OK) {
        status = values_of(plain, &values, &err);
    }
    if (status != KW_OK) {
        kw_tensor_release(plain);
        return kw_fail(status, "%s", err.text);
    }
    copy(x, plain, values);
    *out_tensor = plain;
    return KW_OK;
}
