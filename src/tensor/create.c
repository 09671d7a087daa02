// Tensors of options: checks, keys, and a storage if there is none.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#include <keyway/tensor.h>

#include "tensor/keys.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

static kw_status check_types(const kw_tensor_options *options, kw_error *err)
{
    if (kw_dtype_name(options->dtype) == NULL || kw_layout_name(options->layout) == NULL ||
        options->inference > KW_INFERENCE_ALWAYS) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "%u is no element type, %u no layout, or %u no choice of inference",
                            (unsigned)options->dtype, (unsigned)options->layout,
                            (unsigned)options->inference);
    }
    kw_device device = options->device;
    if (kwi_device_name(device.type) == NULL || device.index < -1 || device.index > INT8_MAX) {
        return kw_error_set(
            err, KW_INVALID_ARGUMENT, "%d:%d is no device: types are 0 to %d, indices -1 to %d",
            (int)device.type, (int)device.index, KW_DEVICE_TYPE_COUNT - 1, INT8_MAX);
    }
    if (options->dim > KW_TENSOR_DIM_MAX) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "%u dimensions are more than the %d that a tensor can have",
                            (unsigned)options->dim, KW_TENSOR_DIM_MAX);
    }
    return KW_OK;
}

// A shape under way: the numbers of options, or strides made for them.
typedef struct draft {
    kwi_geometry shape;
    size_t needed_bytes; // of storage
    int64_t strides[KW_TENSOR_DIM_MAX];
} draft;

static kw_status fail_dimension(const kw_tensor_options *options, uint32_t index, kw_error *err)
{
    long long stride = options->strides != NULL ? (long long)options->strides[index] : 0;
    return kw_error_set(err, KW_INVALID_ARGUMENT,
                        "dimension %u has size %lld and stride %lld; neither may be negative",
                        (unsigned)index, (long long)options->sizes[index], stride);
}

static kw_status fail_product(kw_error *err)
{
    return kw_error_set(err, KW_INVALID_ARGUMENT, "the product of the sizes is beyond 64 bits");
}

// Contiguous strides, and how many elements the shape reaches, in one pass.
static kw_status lay_contiguous(const kw_tensor_options *options, draft *out, int64_t *out_reach,
                                kw_error *err)
{
    int64_t stride = 1;
    bool is_empty = false;
    for (uint32_t i = options->dim; i-- > 0;) {
        int64_t size = options->sizes[i];
        if (size < 0) {
            return fail_dimension(options, i, err);
        }
        out->strides[i] = stride;
        is_empty |= size == 0;
        if (size > 1 && __builtin_mul_overflow(stride, size, &stride)) {
            return fail_product(err);
        }
    }
    out->shape.strides = out->strides;
    *out_reach = 0;
    // An offset that is too large is found by who makes bytes of it.
    return !is_empty && __builtin_add_overflow(stride, options->storage_offset, out_reach)
               ? fail_product(err)
               : KW_OK;
}

static kw_status lay_as_told(const kw_tensor_options *options, draft *out, int64_t *out_reach,
                             kw_error *err)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < options->dim; i++) {
        if (options->sizes[i] < 0 || options->strides[i] < 0) {
            return fail_dimension(options, i, err);
        }
    }
    out->shape.strides = options->strides;
    return kwi_sizes_count(options->sizes, options->dim, &count) &&
                   kwi_shape_reach(options->sizes, options->strides, options->dim,
                                   options->storage_offset, out_reach)
               ? KW_OK
               : fail_product(err);
}

static kw_status lay(const kw_tensor_options *options, draft *out, kw_error *err)
{
    if (options->dim > 0 && options->sizes == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "%u dimensions have no sizes",
                            (unsigned)options->dim);
    }
    if (options->storage_offset < 0) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "the storage offset %lld is negative",
                            (long long)options->storage_offset);
    }
    out->shape.sizes = options->sizes;
    out->shape.offset = options->storage_offset;
    out->shape.dim = options->dim;
    int64_t reach = 0;
    kw_status status = options->strides != NULL ? lay_as_told(options, out, &reach, err)
                                                : lay_contiguous(options, out, &reach, err);
    if (status == KW_OK &&
        __builtin_mul_overflow((size_t)reach, kw_dtype_bytes(options->dtype), &out->needed_bytes)) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "the last element lies beyond what 64 bits can count in bytes");
    }
    return status;
}

static kw_status find_keys(const kw_tensor_options *options, kw_keyset *out_keys, kw_error *err)
{
    bool is_inference = options->inference == KW_INFERENCE_OF_THREAD
                            ? kwi_thread_is_inferring()
                            : options->inference == KW_INFERENCE_ALWAYS;
    if (kw_keyset_is_empty(options->keys)) {
        return kwi_keys_of_device(options->device.type, options->layout, options->dtype,
                                  is_inference, out_keys, err);
    }
    *out_keys = kw_tensor_keys_of(options->keys, is_inference);
    return KW_OK;
}

static kw_status check_storage(const kw_tensor_options *options, size_t needed_bytes, kw_error *err)
{
    kw_device device = kw_storage_device(options->storage);
    if (device.type != options->device.type || device.index != options->device.index) {
        return kw_error_set(err, KW_WRONG_VALUE,
                            "the storage is on %s:%d, the tensor would be on %s:%d",
                            kwi_device_name(device.type), (int)device.index,
                            kwi_device_name(options->device.type), (int)options->device.index);
    }
    if (kw_storage_bytes(options->storage) < needed_bytes) {
        return kw_error_set(err, KW_WRONG_VALUE,
                            "the shape needs %zu bytes of storage, which has %zu", needed_bytes,
                            kw_storage_bytes(options->storage));
    }
    return KW_OK;
}

static kw_status make(const kw_tensor_options *options, kw_tensor **out_tensor, kw_error *err)
{
    draft under_way; // not zeroed as a whole: strides are filled in as far as they are used
    under_way.shape = (kwi_geometry){.dim = 0};
    under_way.needed_bytes = 0;
    kw_status status = lay(options, &under_way, err);
    if (status != KW_OK) {
        return status;
    }
    kwi_tensor_parts parts = {
        .shape = under_way.shape,
        .storage = options->storage,
        .device = options->device,
        .dtype = options->dtype,
        .layout = options->layout,
        .is_contiguous = options->strides == NULL,
    };
    kw_storage *own = NULL;
    status = find_keys(options, &parts.keys, err);
    if (status == KW_OK && options->storage != NULL) {
        status = check_storage(options, under_way.needed_bytes, err);
    } else if (status == KW_OK && options->layout == KW_LAYOUT_STRIDED && !options->metadata_only) {
        status = kw_storage_create(under_way.needed_bytes, options->device, &own, err);
        parts.storage = own;
    }
    if (status == KW_OK) {
        status = kwi_tensor_make(&parts, out_tensor, err);
    }
    kw_storage_release(own); // the tensor has a reference of its own
    return status;
}

kw_status kw_tensor_create(const kw_tensor_options *options, kw_tensor **out_tensor, kw_error *err)
{
    kw_status status = kw_options_check(options, sizeof *options, "kw_tensor_options", err);
    if (status == KW_OK && out_tensor == NULL) {
        status = kw_error_set(err, KW_INVALID_ARGUMENT, "there is no place for the tensor");
    }
    if (status == KW_OK) {
        status = check_types(options, err);
    }
    return status == KW_OK ? make(options, out_tensor, err) : status;
}
