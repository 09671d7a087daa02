// Tensors of options: checks, keys, and a storage if there is none.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#include <keyway/tensor.h>

#include "tensor/failure.h"
#include "tensor/keys.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

static kw_status check_types(const kw_tensor_options *options, kw_error *err)
{
    if (kw_dtype_name(options->dtype) == NULL || kw_layout_name(options->layout) == NULL ||
        options->inference > KW_INFERENCE_ALWAYS) {
        return kwi_tensor_fail(err, KW_INVALID_ARGUMENT,
                               "%u is no element type, %u no layout, or %u no choice of inference",
                               (unsigned)options->dtype, (unsigned)options->layout,
                               (unsigned)options->inference);
    }
    kw_device device = options->device;
    if (kwi_device_name(device.type) == NULL || device.index < -1 || device.index > INT8_MAX) {
        return kwi_tensor_fail(
            err, KW_INVALID_ARGUMENT, "%d:%d is no device: types are 0 to %d, indices -1 to %d",
            (int)device.type, (int)device.index, KW_DEVICE_TYPE_COUNT - 1, INT8_MAX);
    }
    if (options->dim > KW_TENSOR_DIM_MAX) {
        return kwi_tensor_fail(err, KW_INVALID_ARGUMENT,
                               "%u dimensions are more than the %d that a tensor can have",
                               (unsigned)options->dim, KW_TENSOR_DIM_MAX);
    }
    return KW_OK;
}

static kw_status check_shape(const kw_tensor_options *options, kw_error *err)
{
    if (options->dim > 0 && options->sizes == NULL) {
        return kwi_tensor_fail(err, KW_INVALID_ARGUMENT, "%u dimensions have no sizes",
                               (unsigned)options->dim);
    }
    for (uint32_t i = 0; i < options->dim; i++) {
        int64_t stride = options->strides != NULL ? options->strides[i] : 0;
        if (options->sizes[i] < 0 || stride < 0) {
            return kwi_tensor_fail(err, KW_INVALID_ARGUMENT,
                                   "dimension %u has size %lld and stride %lld; neither may be "
                                   "negative",
                                   (unsigned)i, (long long)options->sizes[i], (long long)stride);
        }
    }
    int64_t count = 0;
    if (!kwi_sizes_count(options->sizes, options->dim, &count)) {
        return kwi_tensor_fail(err, KW_INVALID_ARGUMENT,
                               "the product of the sizes is beyond 64 bits");
    }
    if (options->storage_offset < 0) {
        return kwi_tensor_fail(err, KW_INVALID_ARGUMENT, "the storage offset %lld is negative",
                               (long long)options->storage_offset);
    }
    return KW_OK;
}

static kw_status find_keys(const kw_tensor_options *options, kw_keyset *out_keys, kw_error *err)
{
    kw_keyset keys = options->keys;
    if (kw_keyset_is_empty(keys)) {
        kw_key key = KW_KEY_Undefined;
        kw_status status =
            kw_tensor_backend_key(options->device.type, options->layout, options->dtype, &key, err);
        if (status != KW_OK) {
            return status;
        }
        keys = kw_keyset_from_key(key);
    }
    bool is_inference = options->inference == KW_INFERENCE_OF_THREAD
                            ? kwi_thread_is_inferring()
                            : options->inference == KW_INFERENCE_ALWAYS;
    *out_keys = kw_tensor_keys_of(keys, is_inference);
    return KW_OK;
}

// The bytes of storage that the shape reaches.
static kw_status find_bytes(const kw_tensor_options *options, const kwi_geometry *shape,
                            size_t *out_bytes, kw_error *err)
{
    if (!kwi_shape_reach_bytes(shape->sizes, shape->strides, shape->dim, shape->offset,
                               kw_dtype_bytes(options->dtype), out_bytes)) {
        return kwi_tensor_fail(err, KW_INVALID_ARGUMENT,
                               "the last element lies beyond what 64 bits can count in bytes");
    }
    return KW_OK;
}

static kw_status check_storage(const kw_tensor_options *options, size_t needed_bytes, kw_error *err)
{
    kw_device device = kw_storage_device(options->storage);
    if (device.type != options->device.type || device.index != options->device.index) {
        return kwi_tensor_fail(err, KW_WRONG_VALUE,
                               "the storage is on %s:%d, the tensor would be on %s:%d",
                               kwi_device_name(device.type), (int)device.index,
                               kwi_device_name(options->device.type), (int)options->device.index);
    }
    if (kw_storage_bytes(options->storage) < needed_bytes) {
        return kwi_tensor_fail(err, KW_WRONG_VALUE,
                               "the shape needs %zu bytes of storage, which has %zu", needed_bytes,
                               kw_storage_bytes(options->storage));
    }
    return KW_OK;
}

// The storage of the tensor, with one reference for the caller; NULL: it has none.
static kw_status get_storage(const kw_tensor_options *options, size_t needed_bytes,
                             kw_storage **out_storage, kw_error *err)
{
    *out_storage = NULL;
    if (options->storage != NULL) {
        kw_status status = check_storage(options, needed_bytes, err);
        if (status == KW_OK) {
            kw_storage_retain(options->storage);
            *out_storage = options->storage;
        }
        return status;
    }
    return options->layout == KW_LAYOUT_STRIDED && !options->metadata_only
               ? kw_storage_create(needed_bytes, options->device, out_storage, err)
               : KW_OK;
}

static kw_status make(const kw_tensor_options *options, kw_tensor **out_tensor, kw_error *err)
{
    int64_t strides[KW_TENSOR_DIM_MAX];
    if (options->strides == NULL) {
        (void)kwi_strides_of_format(options->sizes, options->dim, KW_MEMORY_CONTIGUOUS, strides);
    }
    kwi_tensor_parts parts = {
        .shape = {options->sizes, options->strides != NULL ? options->strides : strides,
                  options->storage_offset, options->dim},
        .device = options->device,
        .dtype = options->dtype,
        .layout = options->layout,
    };
    size_t needed_bytes = 0;
    kw_status status = find_keys(options, &parts.keys, err);
    if (status == KW_OK) {
        status = find_bytes(options, &parts.shape, &needed_bytes, err);
    }
    if (status == KW_OK) {
        status = get_storage(options, needed_bytes, &parts.storage, err);
    }
    if (status == KW_OK) {
        status = kwi_tensor_make(&parts, out_tensor, err);
        kw_storage_release(parts.storage); // the tensor has a reference of its own
    }
    return status;
}

kw_status kw_tensor_create(const kw_tensor_options *options, kw_tensor **out_tensor, kw_error *err)
{
    kw_status status = kwi_tensor_options_check(options, sizeof *options, "kw_tensor_options", err);
    if (status == KW_OK && out_tensor == NULL) {
        status = kwi_tensor_fail(err, KW_INVALID_ARGUMENT, "there is no place for the tensor");
    }
    if (status == KW_OK) {
        status = check_types(options, err);
    }
    if (status == KW_OK) {
        status = check_shape(options, err);
    }
    return status == KW_OK ? make(options, out_tensor, err) : status;
}
