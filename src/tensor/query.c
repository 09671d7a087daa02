// Queries: what a tensor is, by its device, its keys and its flags, and where its elements are.
//
// Layer:   tensor
// Threads: as the tensor.
// SPDX-License-Identifier: MIT

#include <keyway/tensor.h>

#include "tensor/failure.h"
#include "tensor/keys.h"

kw_device kw_tensor_device(const kw_tensor *tensor)
{
    return (kw_device){.type = tensor->device_type, .index = tensor->device_index};
}

bool kw_tensor_is_on(const kw_tensor *tensor, int32_t device_type)
{
    return kw_tensor_is_defined(tensor) && tensor->device_type == device_type;
}

// By keys ---------------------------------------------------------------------------------------

static bool has_any(const kw_tensor *tensor, uint64_t bits)
{
    return (tensor->keys & bits) != 0;
}

bool kw_tensor_is_inference(const kw_tensor *tensor)
{
    return !has_any(tensor, KW_KEYSET_AUTOGRAD_WITH_VIEW);
}

bool kw_tensor_is_sparse(const kw_tensor *tensor)
{
    return has_any(tensor, KW_KEYSET_SPARSE);
}

bool kw_tensor_is_sparse_csr(const kw_tensor *tensor)
{
    return has_any(tensor, KW_KEYSET_SPARSE_CSR);
}

bool kw_tensor_is_quantized(const kw_tensor *tensor)
{
    return has_any(tensor, KW_KEYSET_FUNCTIONALITY_BITS(KW_KEY_Quantized));
}

bool kw_tensor_is_mkldnn(const kw_tensor *tensor)
{
    return has_any(tensor, KW_KEYSET_MKLDNN);
}

bool kw_tensor_is_nested(const kw_tensor *tensor)
{
    return has_any(tensor, KW_KEYSET_FUNCTIONALITY_BITS(KW_KEY_NestedTensor));
}

// By flags --------------------------------------------------------------------------------------

static bool has_flag(const kw_tensor *tensor, uint16_t flag)
{
    return (tensor->flags & flag) != 0;
}

bool kw_tensor_is_view(const kw_tensor *tensor)
{
    return has_flag(tensor, KWI_TENSOR_VIEW);
}

bool kw_tensor_is_wrapped_number(const kw_tensor *tensor)
{
    return has_flag(tensor, KWI_TENSOR_WRAPPED_NUMBER);
}

void kw_tensor_set_wrapped_number(kw_tensor *tensor, bool is_wrapped)
{
    if (kw_tensor_is_defined(tensor)) {
        uint16_t others = tensor->flags & (uint16_t)~KWI_TENSOR_WRAPPED_NUMBER;
        tensor->flags = is_wrapped ? others | KWI_TENSOR_WRAPPED_NUMBER : others;
    }
}

bool kw_tensor_is_contiguous_as(const kw_tensor *tensor, uint8_t memory_format)
{
    switch (memory_format) {
    case KW_MEMORY_CHANNELS_LAST:
        return has_flag(tensor, KWI_TENSOR_CHANNELS_LAST);
    case KW_MEMORY_CHANNELS_LAST_3D:
        return has_flag(tensor, KWI_TENSOR_CHANNELS_LAST_3D);
    default:
        return has_flag(tensor, KWI_TENSOR_CONTIGUOUS);
    }
}

bool kw_tensor_is_strides_like(const kw_tensor *tensor, uint8_t memory_format)
{
    switch (memory_format) {
    case KW_MEMORY_CHANNELS_LAST:
        return has_flag(tensor, KWI_TENSOR_LIKE_CHANNELS_LAST);
    case KW_MEMORY_CHANNELS_LAST_3D:
        return has_flag(tensor, KWI_TENSOR_LIKE_CHANNELS_LAST_3D);
    default:
        return false;
    }
}

bool kw_tensor_is_non_overlapping_and_dense(const kw_tensor *tensor)
{
    return has_flag(tensor, KWI_TENSOR_DENSE);
}

// Data ------------------------------------------------------------------------------------------

kw_storage *kw_tensor_storage(const kw_tensor *tensor)
{
    return tensor->storage;
}

// Whether the tensor has elements at an address. A symbolic shape has no numbers to find them by.
static bool has_data(const kw_tensor *tensor)
{
    return tensor->storage != NULL && !kw_tensor_is_symbolic(tensor) &&
           kw_storage_data(tensor->storage) != NULL && kw_tensor_numel(tensor) > 0;
}

static size_t offset_bytes(const kw_tensor *tensor)
{
    return (size_t)tensor->offset * kw_dtype_bytes(tensor->dtype);
}

const void *kw_tensor_data(const kw_tensor *tensor)
{
    return has_data(tensor)
               ? (const unsigned char *)kw_storage_data(tensor->storage) + offset_bytes(tensor)
               : NULL;
}

// Elements without an address.
KW_COLD static kw_status refuse_to_write(const kw_tensor *tensor, kw_error *err)
{
    if (!kw_tensor_is_defined(tensor)) {
        return kwi_tensor_fail_undefined(err);
    }
    if (kw_tensor_is_symbolic(tensor)) {
        return kw_error_set(
            err, KW_NOT_SUPPORTED,
            "the shape is symbolic: there is no address to write to without numbers");
    }
    if (tensor->storage == NULL) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "the tensor, of layout %s, has no storage to write to",
                            kw_layout_name(tensor->layout));
    }
    return kw_error_set(err, KW_NOT_SUPPORTED,
                        "the storage of the tensor, on %s, has no memory to write to",
                        kwi_device_name(tensor->device_type));
}

kw_status kw_tensor_mutable_data(kw_tensor *tensor, void **out_data, kw_error *err)
{
    void *data = NULL;
    kw_status status =
        tensor->storage != NULL ? kw_storage_mutable_data(tensor->storage, &data, err) : KW_OK;
    if (status != KW_OK) {
        return status;
    }
    if (has_data(tensor)) {
        *out_data = (unsigned char *)data + offset_bytes(tensor);
        return KW_OK;
    }
    if (kw_tensor_is_symbolic(tensor) || kw_tensor_numel(tensor) > 0) {
        return refuse_to_write(tensor, err);
    }
    *out_data = NULL;
    return KW_OK;
}
