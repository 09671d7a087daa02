// Keys of tensors: from device, layout and element type to the backend key, and from there to the
// set.
//
// Layer:   tensor
// Threads: any; constant tables only.
// SPDX-License-Identifier: MIT
//
// Note [Keys of a tensor]
//
// What a device type serves is a row: its backend, or one key for devices that are no backend and
// know dense tensors only. What a layout wants is a building block, combined with the backend; the
// one layout that belongs to a library, mkldnn, is served by one device. Quantized types take
// another building block in dense layouts, and have no say in others.

#include "tensor/keys.h"

#include <keyway/tensor.h>

#include "tensor/failure.h"

typedef struct device_row {
    const char *name;
    kw_backend backend; // KW_BACKEND_INVALID: none
    kw_key dense_key;   // of a device that is no backend; Undefined: none
} device_row;

static const device_row devices[KW_DEVICE_TYPE_COUNT] = {
    [KW_DEVICE_CPU] = {.name = "cpu", .backend = KW_BACKEND_CPU},
    [KW_DEVICE_CUDA] = {.name = "cuda", .backend = KW_BACKEND_CUDA},
    [2] = {.name = "mkldnn"},
    [3] = {.name = "opengl"},
    [4] = {.name = "opencl"},
    [5] = {.name = "ideep"},
    [KW_DEVICE_HIP] = {.name = "hip", .backend = KW_BACKEND_HIP},
    [KW_DEVICE_FPGA] = {.name = "fpga", .dense_key = KW_KEY_FPGA},
    [KW_DEVICE_MAIA] = {.name = "maia", .backend = KW_BACKEND_MAIA},
    [KW_DEVICE_XLA] = {.name = "xla", .backend = KW_BACKEND_XLA},
    [KW_DEVICE_VULKAN] = {.name = "vulkan", .dense_key = KW_KEY_Vulkan},
    [KW_DEVICE_METAL] = {.name = "metal", .dense_key = KW_KEY_Metal},
    [KW_DEVICE_XPU] = {.name = "xpu", .backend = KW_BACKEND_XPU},
    [KW_DEVICE_MPS] = {.name = "mps", .backend = KW_BACKEND_MPS},
    [KW_DEVICE_META] = {.name = "meta", .backend = KW_BACKEND_Meta},
    [KW_DEVICE_HPU] = {.name = "hpu", .backend = KW_BACKEND_HPU},
    [KW_DEVICE_VE] = {.name = "ve", .backend = KW_BACKEND_VE},
    [KW_DEVICE_LAZY] = {.name = "lazy", .backend = KW_BACKEND_Lazy},
    [KW_DEVICE_IPU] = {.name = "ipu", .backend = KW_BACKEND_IPU},
    [KW_DEVICE_MTIA] = {.name = "mtia", .backend = KW_BACKEND_MTIA},
    [KW_DEVICE_PRIVATEUSE1] = {.name = "privateuse1", .backend = KW_BACKEND_PrivateUse1},
};

// The building block of each layout; Undefined: mkldnn, which is a key of its own.
static const kw_key blocks[] = {
    [KW_LAYOUT_STRIDED] = KW_KEY_Dense,        [KW_LAYOUT_SPARSE] = KW_KEY_Sparse,
    [KW_LAYOUT_SPARSE_CSR] = KW_KEY_SparseCsr, [KW_LAYOUT_MKLDNN] = KW_KEY_Undefined,
    [KW_LAYOUT_SPARSE_CSC] = KW_KEY_SparseCsr, [KW_LAYOUT_SPARSE_BSR] = KW_KEY_SparseCsr,
    [KW_LAYOUT_SPARSE_BSC] = KW_KEY_SparseCsr, [KW_LAYOUT_JAGGED] = KW_KEY_Dense,
};

const char *kwi_device_name(int32_t device_type)
{
    return device_type >= 0 && device_type < KW_DEVICE_TYPE_COUNT ? devices[device_type].name
                                                                  : NULL;
}

// The key that serves the combination; Undefined: none.
static kw_key find_key(const device_row *device, uint8_t layout, uint8_t dtype)
{
    kw_key block = blocks[layout];
    if (block == KW_KEY_Undefined) {
        return device->backend == KW_BACKEND_CPU ? KW_KEY_MkldnnCPU : KW_KEY_Undefined;
    }
    if (device->backend == KW_BACKEND_INVALID) {
        return block == KW_KEY_Dense ? device->dense_key : KW_KEY_Undefined;
    }
    bool is_quantized = kw_dtype_kind_of(dtype) == KW_DTYPE_KIND_QUANTIZED;
    return kw_key_of(block == KW_KEY_Dense && is_quantized ? KW_KEY_Quantized : block,
                     device->backend);
}

kw_status kw_tensor_backend_key(int32_t device_type, uint8_t layout, uint8_t dtype, kw_key *out_key,
                                kw_error *err)
{
    const char *layout_name = kw_layout_name(layout);
    const char *device_name = kwi_device_name(device_type);
    if (out_key == NULL || layout_name == NULL || device_name == NULL ||
        kw_dtype_name(dtype) == NULL) {
        return kwi_tensor_fail(err, KW_INVALID_ARGUMENT,
                               "%d is no device type, %u no layout, %u no element type, or there "
                               "is no place for the key",
                               (int)device_type, (unsigned)layout, (unsigned)dtype);
    }
    kw_key key = find_key(&devices[device_type], layout, dtype);
    if (key == KW_KEY_Undefined) {
        return kwi_tensor_fail(err, KW_NOT_SUPPORTED,
                               "no backend serves tensors of layout %s on device %s", layout_name,
                               device_name);
    }
    *out_key = key;
    return KW_OK;
}

kw_keyset kw_tensor_keys_of(kw_keyset backend_keys, bool is_inference)
{
    kw_backend backend = kw_keyset_highest_backend(backend_keys);
    kw_keyset keys = kw_keyset_union(backend_keys, kw_backend_autocast_set(backend));
    keys = kw_keyset_difference(keys, kw_keyset_from_bits(KW_KEYSET_PYTHON));
    return is_inference
               ? kw_keyset_difference(keys, kw_keyset_from_bits(KW_KEYSET_AUTOGRAD_WITH_VIEW))
               : kw_keyset_union(keys, kw_backend_autograd_set(backend));
}
