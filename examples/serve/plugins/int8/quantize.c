// Quantised weights: tensors of qint8 elements, with the scale of each output channel.
//
// Layer:   example (uses int8_math, tensors)
// Threads: any
// SPDX-License-Identifier: MIT

#include "quantize.h"

#include <keyway/call.h>

#include "tensors.h"

// Behind the elements, with the scales behind itself.
typedef struct tail {
    uint64_t mark; // tells it from a storage that is larger for other reasons
    float scales[];
} tail;

static const uint64_t scales_mark = UINT64_C(0x38746e692d77656b);

static size_t tail_offset(const kw_tensor *tensor)
{
    const size_t align = _Alignof(tail);
    return ((size_t)kw_tensor_numel(tensor) + align - 1) / align * align;
}

static size_t rows_of(const kw_tensor *tensor)
{
    return kw_tensor_dim(tensor) > 0 ? (size_t)kw_tensor_sizes(tensor)[0] : 0;
}

static kw_status make(const kw_tensor *weight, kw_tensor **out_quantized, kw_error *err)
{
    const size_t bytes =
        tail_offset(weight) + sizeof(tail) + rows_of(weight) * sizeof(((tail *)NULL)->scales[0]);
    kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = kw_tensor_sizes(weight),
        .dim = kw_tensor_dim(weight),
        .dtype = KW_DTYPE_QINT8,
        .inference = KW_INFERENCE_ALWAYS,
        .device = {KW_DEVICE_CPU, -1},
    };
    kw_status status = kw_storage_create(bytes, options.device, &options.storage, err);
    if (status == KW_OK) {
        status = kw_tensor_create(&options, out_quantized, err);
    }
    kw_storage_release(options.storage); // the tensor has a reference of its own
    return status;
}

static kw_status fill(const kw_tensor *weight, kw_tensor *quantized)
{
    const size_t rows = rows_of(weight);
    const size_t columns = rows > 0 ? (size_t)kw_tensor_numel(weight) / rows : 0;
    void *data = NULL;
    kw_error err = KW_ERROR_INIT;
    const kw_status status = kw_storage_mutable_data(kw_tensor_storage(quantized), &data, &err);
    if (status != KW_OK) {
        return kw_fail(status, "%s", err.text);
    }
    tail *behind = (tail *)(void *)((char *)data + tail_offset(weight));
    behind->mark = scales_mark;
    if (!serve_int8_quantize(rows, columns, serve_tensor_values(weight), data, behind->scales)) {
        return kw_fail(KW_WRONG_VALUE, "weight has elements that are not finite");
    }
    return KW_OK;
}

kw_status serve_int8_weight_create(kw_tensor *weight, kw_tensor **out_quantized)
{
    if (kw_tensor_dtype(weight) != KW_DTYPE_FLOAT32) {
        return kw_fail(KW_WRONG_VALUE, "weight has no float32 elements that could be quantised");
    }
    kw_error err = KW_ERROR_INIT;
    kw_tensor *near = NULL;
    kw_tensor *quantized = NULL;
    kw_status status = serve_tensor_move(weight, KW_DEVICE_CPU, &near, &err);
    if (status == KW_OK) {
        status = make(near, &quantized, &err);
    }
    status = status == KW_OK ? fill(near, quantized) : kw_fail(status, "%s", err.text);
    kw_tensor_release(near);
    if (status != KW_OK) {
        kw_tensor_release(quantized);
        return status;
    }
    *out_quantized = quantized;
    return KW_OK;
}

kw_status serve_int8_weight_read(const kw_tensor *quantized, serve_int8_weight *out_weight)
{
    const kw_storage *storage = kw_tensor_storage(quantized);
    if (kw_tensor_dtype(quantized) != KW_DTYPE_QINT8 || storage == NULL ||
        !kw_tensor_is_on(quantized, KW_DEVICE_CPU) || !kw_tensor_is_contiguous(quantized) ||
        kw_tensor_storage_offset(quantized) != 0) {
        return kw_fail(KW_NOT_SUPPORTED, "weight is not one that this plugin has quantised");
    }
    const size_t offset = tail_offset(quantized);
    const size_t bytes = offset + sizeof(tail) + rows_of(quantized) * sizeof(float);
    const char *data = kw_storage_data(storage);
    const tail *behind = (const tail *)(const void *)(data + offset);
    if (kw_storage_bytes(storage) != bytes || behind->mark != scales_mark) {
        return kw_fail(KW_NOT_SUPPORTED, "weight has no scales behind its elements");
    }
    *out_weight = (serve_int8_weight){.values = (const int8_t *)data, .scales = behind->scales};
    return KW_OK;
}
