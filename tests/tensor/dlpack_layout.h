// The layout of DLPack's structures as numbers, for comparing two headers that cannot be included
// together.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWT_DLPACK_LAYOUT_H
#define KWT_DLPACK_LAYOUT_H

#include <stddef.h>

// A row is a name and a number.
typedef struct kwt_layout_row {
    const char *name;
    size_t number;
} kwt_layout_row;

// Of the header that is installed; `*out_count` rows.
const kwt_layout_row *kwt_dlpack_installed(size_t *out_count);

#define KWT_LAYOUT_SIZE(type)                                                                      \
    {                                                                                              \
        "sizeof " #type, sizeof(type)                                                              \
    }
#define KWT_LAYOUT_FIELD(type, field)                                                              \
    {                                                                                              \
#type "." #field, offsetof(type, field)                                                    \
    }

// Rows that every version has, by the names of the two inner structures, which differ.
#define KWT_LAYOUT_ROWS(of_tensor, of_type, of_device)                                             \
    {"tensor", sizeof(of_tensor)}, {"tensor.data", offsetof(of_tensor, data)},                     \
        {"tensor.device", offsetof(of_tensor, device)},                                            \
        {"tensor.ndim", offsetof(of_tensor, ndim)}, {"tensor.dtype", offsetof(of_tensor, dtype)},  \
        {"tensor.shape", offsetof(of_tensor, shape)},                                              \
        {"tensor.strides", offsetof(of_tensor, strides)},                                          \
        {"tensor.byte_offset", offsetof(of_tensor, byte_offset)}, {"type", sizeof(of_type)},       \
        {"type.code", offsetof(of_type, code)}, {"type.bits", offsetof(of_type, bits)},            \
        {"type.lanes", offsetof(of_type, lanes)}, {"device", sizeof(of_device)},                   \
        {"device.device_type", offsetof(of_device, device_type)},                                  \
        {"device.device_id", offsetof(of_device, device_id)},                                      \
        KWT_LAYOUT_SIZE(struct DLManagedTensor),                                                   \
        KWT_LAYOUT_FIELD(struct DLManagedTensor, dl_tensor),                                       \
        KWT_LAYOUT_FIELD(struct DLManagedTensor, manager_ctx),                                     \
        KWT_LAYOUT_FIELD(struct DLManagedTensor, deleter)

#define KWT_LAYOUT_VERSIONED_ROWS                                                                  \
    KWT_LAYOUT_SIZE(struct DLManagedTensorVersioned),                                              \
        KWT_LAYOUT_FIELD(struct DLManagedTensorVersioned, version),                                \
        KWT_LAYOUT_FIELD(struct DLManagedTensorVersioned, manager_ctx),                            \
        KWT_LAYOUT_FIELD(struct DLManagedTensorVersioned, deleter),                                \
        KWT_LAYOUT_FIELD(struct DLManagedTensorVersioned, flags),                                  \
        KWT_LAYOUT_FIELD(struct DLManagedTensorVersioned, dl_tensor)

#endif // KWT_DLPACK_LAYOUT_H
