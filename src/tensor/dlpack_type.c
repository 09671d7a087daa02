// Element types and devices in DLPack's numbers, and back.
//
// Layer:   tensor
// Threads: any; constant tables only.
// SPDX-License-Identifier: MIT

#include "tensor/dlpack_type.h"

#include <keyway/dtype.h>

#include "tensor/keys.h"

typedef struct type_row {
    uint8_t dtype;
    uint8_t code;
    uint8_t bits;
} type_row;

static const type_row types[] = {
    {KW_DTYPE_BOOL, KWI_DL_BOOL, 8},
    {KW_DTYPE_INT8, KWI_DL_INT, 8},
    {KW_DTYPE_INT16, KWI_DL_INT, 16},
    {KW_DTYPE_INT32, KWI_DL_INT, 32},
    {KW_DTYPE_INT64, KWI_DL_INT, 64},
    {KW_DTYPE_UINT8, KWI_DL_UINT, 8},
    {KW_DTYPE_UINT16, KWI_DL_UINT, 16},
    {KW_DTYPE_UINT32, KWI_DL_UINT, 32},
    {KW_DTYPE_UINT64, KWI_DL_UINT, 64},
    {KW_DTYPE_FLOAT16, KWI_DL_FLOAT, 16},
    {KW_DTYPE_FLOAT32, KWI_DL_FLOAT, 32},
    {KW_DTYPE_FLOAT64, KWI_DL_FLOAT, 64},
    {KW_DTYPE_BFLOAT16, KWI_DL_BFLOAT, 16},
    {KW_DTYPE_COMPLEX32, KWI_DL_COMPLEX, 32},
    {KW_DTYPE_COMPLEX64, KWI_DL_COMPLEX, 64},
    {KW_DTYPE_COMPLEX128, KWI_DL_COMPLEX, 128},
    {KW_DTYPE_FLOAT8_E4M3FN, KWI_DL_FLOAT8_E4M3FN, 8},
    {KW_DTYPE_FLOAT8_E4M3FNUZ, KWI_DL_FLOAT8_E4M3FNUZ, 8},
    {KW_DTYPE_FLOAT8_E5M2, KWI_DL_FLOAT8_E5M2, 8},
    {KW_DTYPE_FLOAT8_E5M2FNUZ, KWI_DL_FLOAT8_E5M2FNUZ, 8},
};
#define TYPE_COUNT (sizeof types / sizeof types[0])

kw_status kwi_dlpack_type_of(uint8_t dtype, kwi_dl_type *out_type, kw_error *err)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (types[i].dtype == dtype) {
            *out_type = (kwi_dl_type){.code = types[i].code, .bits = types[i].bits, .lanes = 1};
            return KW_OK;
        }
    }
    return kw_error_set(err, KW_NOT_SUPPORTED, "DLPack has no element type %s",
                        kw_dtype_name(dtype));
}

kw_status kwi_dlpack_type_read(kwi_dl_type type, uint8_t *out_dtype, kw_error *err)
{
    if (type.code == KWI_DL_OPAQUE_HANDLE) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "the elements are opaque handles of %u bits, which only their maker "
                            "can read",
                            type.bits);
    }
    if (type.lanes != 1) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "the elements are vectors of %u lanes; export their lanes as one "
                            "more dimension",
                            type.lanes);
    }
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (types[i].code == type.code && types[i].bits == type.bits) {
            *out_dtype = types[i].dtype;
            return KW_OK;
        }
    }
    return kw_error_set(err, KW_NOT_SUPPORTED,
                        "DLPack's type code %u with %u bits is no element type here", type.code,
                        type.bits);
}

// Devices ---------------------------------------------------------------------------------------

typedef struct device_row {
    int32_t type;
    uint32_t dl_type;
    bool is_import_only; // another kind of memory of the device
} device_row;

static const device_row devices[] = {
    {KW_DEVICE_CPU, KWI_DL_CPU, false},         {KW_DEVICE_CUDA, KWI_DL_CUDA, false},
    {KW_DEVICE_HIP, KWI_DL_ROCM, false},        {KW_DEVICE_MAIA, KWI_DL_MAIA, false},
    {KW_DEVICE_VULKAN, KWI_DL_VULKAN, false},   {KW_DEVICE_XPU, KWI_DL_ONE_API, false},
    {KW_DEVICE_MPS, KWI_DL_METAL, false},       {KW_DEVICE_PRIVATEUSE1, KWI_DL_EXT_DEV, false},
    {KW_DEVICE_CPU, KWI_DL_CUDA_HOST, true},    {KW_DEVICE_CPU, KWI_DL_ROCM_HOST, true},
    {KW_DEVICE_CPU, KWI_DL_CUDA_MANAGED, true},
};
#define DEVICE_COUNT (sizeof devices / sizeof devices[0])

bool kwi_dlpack_has_handles(int32_t device_type)
{
    return device_type == KW_DEVICE_VULKAN || device_type == KW_DEVICE_MPS;
}

kw_status kwi_dlpack_device_of(kw_device device, kwi_dl_device *out_device, kw_error *err)
{
    for (size_t i = 0; i < DEVICE_COUNT; i++) {
        if (devices[i].type == device.type && !devices[i].is_import_only) {
            out_device->device_type = devices[i].dl_type;
            out_device->device_id = device.index > 0 ? device.index : 0; // -1: there is one
            return KW_OK;
        }
    }
    return kw_error_set(err, KW_NOT_SUPPORTED, "DLPack has no device %s",
                        kwi_device_name(device.type));
}

kw_status kwi_dlpack_device_read(kwi_dl_device device, kw_device *out_device, kw_error *err)
{
    for (size_t i = 0; i < DEVICE_COUNT; i++) {
        if (devices[i].dl_type != device.device_type) {
            continue;
        }
        out_device->type = devices[i].type;
        out_device->index = devices[i].type == KW_DEVICE_CPU ? -1 : device.device_id;
        if (out_device->index < -1 || out_device->index > INT8_MAX ||
            (out_device->index == -1 && devices[i].type != KW_DEVICE_CPU)) {
            return kw_error_set(err, KW_INVALID_ARGUMENT,
                                "the device index is %d; it can be 0 to %d", (int)device.device_id,
                                INT8_MAX);
        }
        return KW_OK;
    }
    return kw_error_set(err, KW_NOT_SUPPORTED,
                        "DLPack's device type %u is none that tensors have here",
                        (unsigned)device.device_type);
}
