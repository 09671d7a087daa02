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
// another building block in dense layouts, and have no say in others. A row also has what the
// backend adds to the set of a tensor, for tensors are made more often than asked about.

#include "tensor/keys.h"

#include <keyway/tensor.h>

typedef struct device_row {
    const char *name;
    kw_backend backend; // KW_BACKEND_INVALID: none
    kw_key dense_key;   // of a device that is no backend; Undefined: none
    uint64_t always;    // the backend's bit and its autocast key
    uint64_t autograd;  // what its tensors have unless they are inference tensors
} device_row;

#define VIEW KW_KEYSET_BITS(KW_KEY_ADInplaceOrView)
#define AUTOGRAD_OTHER (VIEW | KW_KEYSET_BITS(KW_KEY_AutogradOther))
#define WITH_AUTOCAST(backend) KW_KEYSET_BITS(KW_KEY_Autocast##backend)
#define NO_AUTOCAST(backend) 0

// A backend with an autograd key of its own.
#define BACKEND(text, of, autocast)                                                                \
    {                                                                                              \
        .name = (text), .backend = KW_BACKEND_##of,                                                \
        .always = KW_KEYSET_BACKEND_BITS(KW_BACKEND_##of) | autocast(of),                          \
        .autograd = VIEW | KW_KEYSET_BITS(KW_KEY_Autograd##of)                                     \
    }
// One whose tensors share AutogradOther.
#define SHARING_BACKEND(text, of)                                                                  \
    {                                                                                              \
        .name = (text), .backend = KW_BACKEND_##of,                                                \
        .always = KW_KEYSET_BACKEND_BITS(KW_BACKEND_##of), .autograd = AUTOGRAD_OTHER              \
    }
// A device of one key.
#define DENSE(text, of)                                                                            \
    {                                                                                              \
        .name = (text), .dense_key = KW_KEY_##of, .autograd = AUTOGRAD_OTHER                       \
    }

static const device_row devices[KW_DEVICE_TYPE_COUNT] = {
    [KW_DEVICE_CPU] = BACKEND("cpu", CPU, WITH_AUTOCAST),
    [KW_DEVICE_CUDA] = BACKEND("cuda", CUDA, WITH_AUTOCAST),
    [2] = {.name = "mkldnn"},
    [3] = {.name = "opengl"},
    [4] = {.name = "opencl"},
    [5] = {.name = "ideep"},
    [KW_DEVICE_HIP] = SHARING_BACKEND("hip", HIP),
    [KW_DEVICE_FPGA] = DENSE("fpga", FPGA),
    [KW_DEVICE_MAIA] = BACKEND("maia", MAIA, WITH_AUTOCAST),
    [KW_DEVICE_XLA] = BACKEND("xla", XLA, WITH_AUTOCAST),
    [KW_DEVICE_VULKAN] = DENSE("vulkan", Vulkan),
    [KW_DEVICE_METAL] = DENSE("metal", Metal),
    [KW_DEVICE_XPU] = BACKEND("xpu", XPU, WITH_AUTOCAST),
    [KW_DEVICE_MPS] = BACKEND("mps", MPS, WITH_AUTOCAST),
    [KW_DEVICE_META] = BACKEND("meta", Meta, NO_AUTOCAST),
    [KW_DEVICE_HPU] = BACKEND("hpu", HPU, WITH_AUTOCAST),
    [KW_DEVICE_VE] = SHARING_BACKEND("ve", VE),
    [KW_DEVICE_LAZY] = BACKEND("lazy", Lazy, NO_AUTOCAST),
    [KW_DEVICE_IPU] = BACKEND("ipu", IPU, WITH_AUTOCAST),
    [KW_DEVICE_MTIA] = BACKEND("mtia", MTIA, WITH_AUTOCAST),
    [KW_DEVICE_PRIVATEUSE1] = BACKEND("privateuse1", PrivateUse1, WITH_AUTOCAST),
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

// The functionality that serves the combination, on the device's backend if it has one; Undefined:
// none does.
static kw_key find_functionality(const device_row *device, uint8_t layout, uint8_t dtype)
{
    kw_key block = blocks[layout];
    if (block == KW_KEY_Undefined) {
        return device->backend == KW_BACKEND_CPU ? KW_KEY_MkldnnCPU : KW_KEY_Undefined;
    }
    if (device->backend == KW_BACKEND_INVALID) {
        return block == KW_KEY_Dense ? device->dense_key : KW_KEY_Undefined;
    }
    bool is_quantized = kw_dtype_kind_of(dtype) == KW_DTYPE_KIND_QUANTIZED;
    return block == KW_KEY_Dense && is_quantized ? KW_KEY_Quantized : block;
}

static kw_status fail_served(const device_row *device, uint8_t layout, kw_error *err)
{
    return kw_error_set(err, KW_NOT_SUPPORTED,
                        "no backend serves tensors of layout %s on device %s",
                        kw_layout_name(layout), device->name);
}

kw_status kwi_keys_of_device(int32_t device_type, uint8_t layout, uint8_t dtype, bool is_inference,
                             kw_keyset *out_keys, kw_error *err)
{
    const device_row *device = &devices[device_type];
    kw_key functionality = find_functionality(device, layout, dtype);
    if (functionality == KW_KEY_Undefined) {
        return fail_served(device, layout, err);
    }
    uint64_t bits = KW_KEYSET_FUNCTIONALITY_BITS(functionality);
    // mkldnn is no backend: it has no backend's bit, and shares AutogradOther.
    if (functionality == KW_KEY_MkldnnCPU) {
        bits |= is_inference ? 0 : AUTOGRAD_OTHER;
    } else {
        bits |= device->always | (is_inference ? 0 : device->autograd);
    }
    *out_keys = kw_keyset_from_bits(bits);
    return KW_OK;
}

kw_status kw_tensor_backend_key(int32_t device_type, uint8_t layout, uint8_t dtype, kw_key *out_key,
                                kw_error *err)
{
    if (out_key == NULL || kw_layout_name(layout) == NULL || kwi_device_name(device_type) == NULL ||
        kw_dtype_name(dtype) == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "%d is no device type, %u no layout, %u no element type, or there "
                            "is no place for the key",
                            (int)device_type, (unsigned)layout, (unsigned)dtype);
    }
    const device_row *device = &devices[device_type];
    kw_key functionality = find_functionality(device, layout, dtype);
    if (functionality == KW_KEY_Undefined) {
        return fail_served(device, layout, err);
    }
    *out_key = kw_key_is_per_backend(functionality) ? kw_key_of(functionality, device->backend)
                                                    : functionality;
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
