// DLPack's structures and numbers: those of 0.6, and those of 1.x up to 1.1.
//
// Layer:   tensor
// Threads: a structure belongs to whoever holds it; its deleter may run in any thread.
// SPDX-License-Identifier: MIT
//
// Written here, so that nothing depends on a version of DLPack's header; the two cannot be included
// together. The tags of the two outer structures are DLPack's, as dlpack.h declares them.
// tests/tensor/dlpack_layout compares with DLPack's header where that is installed.

#ifndef KWI_TENSOR_DLPACK_ABI_H
#define KWI_TENSOR_DLPACK_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

typedef enum kwi_dl_device_code {
    KWI_DL_CPU = 1,
    KWI_DL_CUDA = 2,
    KWI_DL_CUDA_HOST = 3, // memory of the CPU that CUDA has pinned
    KWI_DL_VULKAN = 7,
    KWI_DL_METAL = 8,
    KWI_DL_ROCM = 10,
    KWI_DL_ROCM_HOST = 11,
    KWI_DL_EXT_DEV = 12,
    KWI_DL_CUDA_MANAGED = 13, // memory that CPU and CUDA both reach
    KWI_DL_ONE_API = 14,
    KWI_DL_MAIA = 17
} kwi_dl_device_code;

typedef enum kwi_dl_type_code {
    KWI_DL_INT = 0,
    KWI_DL_UINT = 1,
    KWI_DL_FLOAT = 2,
    KWI_DL_OPAQUE_HANDLE = 3,
    KWI_DL_BFLOAT = 4,
    KWI_DL_COMPLEX = 5,
    KWI_DL_BOOL = 6,
    // From here on of 1.1.
    KWI_DL_FLOAT8_E4M3FN = 10,
    KWI_DL_FLOAT8_E4M3FNUZ = 11,
    KWI_DL_FLOAT8_E5M2 = 12,
    KWI_DL_FLOAT8_E5M2FNUZ = 13
} kwi_dl_type_code;

// Bits of DLManagedTensorVersioned.flags.
#define KWI_DL_READ_ONLY UINT64_C(1)
#define KWI_DL_IS_COPIED UINT64_C(2)

typedef struct kwi_dl_device {
    uint32_t device_type; // an enum in DLPack
    int32_t device_id;
} kwi_dl_device;

typedef struct kwi_dl_type {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} kwi_dl_type;

typedef struct kwi_dl_tensor {
    void *data;
    kwi_dl_device device;
    int32_t ndim;
    kwi_dl_type dtype;
    int64_t *shape;
    int64_t *strides; // in elements; NULL: contiguous
    uint64_t byte_offset;
} kwi_dl_tensor;

typedef struct kwi_dl_version {
    uint32_t major;
    uint32_t minor;
} kwi_dl_version;

struct DLManagedTensor { // NOLINT(readability-identifier-naming): DLPack's tag
    kwi_dl_tensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
};

// Whatever the version, the fields before `flags` are as they are here.
struct DLManagedTensorVersioned { // NOLINT(readability-identifier-naming): DLPack's tag
    kwi_dl_version version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    kwi_dl_tensor dl_tensor;
};

static_assert(sizeof(kwi_dl_type) == 4, "a type is one word of 32 bits");
static_assert(sizeof(kwi_dl_tensor) == 32 + 2 * sizeof(void *), "DLPack's layout");

#endif // KWI_TENSOR_DLPACK_ABI_H
