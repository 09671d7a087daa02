// DLPack's structures, 0.6 and 1.x, as far as the module looks into them.
//
// Layer:   python (public headers only)
// Threads: nothing here runs.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_DLPACK_ABI_H
#define KWI_PYTHON_DLPACK_ABI_H

#include <stdint.h>

typedef struct kwpy_dl_tensor {
    void *data;
    int32_t device_type;
    int32_t device_id;
    int32_t ndim;
    uint8_t type_code;
    uint8_t type_bits;
    uint16_t type_lanes;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} kwpy_dl_tensor;

struct DLManagedTensor {
    kwpy_dl_tensor tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
};

struct DLManagedTensorVersioned {
    uint32_t major;
    uint32_t minor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    kwpy_dl_tensor tensor;
};

_Static_assert(sizeof(kwpy_dl_tensor) == 48, "DLTensor as every version has it");

#endif // KWI_PYTHON_DLPACK_ABI_H
