// Element types and devices in DLPack's numbers, and back.
//
// Layer:   tensor
// Threads: any; constant tables only.
// SPDX-License-Identifier: MIT

#ifndef KWI_TENSOR_DLPACK_TYPE_H
#define KWI_TENSOR_DLPACK_TYPE_H

#include <stdbool.h>

#include <keyway/status.h>
#include <keyway/value.h>

#include "tensor/dlpack_abi.h"

// KW_NOT_SUPPORTED names the type or device that the other side has not.
kw_status kwi_dlpack_type_of(uint8_t dtype, kwi_dl_type *out_type, kw_error *err);
kw_status kwi_dlpack_type_read(kwi_dl_type type, uint8_t *out_dtype, kw_error *err);
kw_status kwi_dlpack_device_of(kw_device device, kwi_dl_device *out_device, kw_error *err);
kw_status kwi_dlpack_device_read(kwi_dl_device device, kw_device *out_device, kw_error *err);

// Whether the data pointers of a device are handles, to which no offset can be added.
bool kwi_dlpack_has_handles(int32_t device_type);

#endif // KWI_TENSOR_DLPACK_TYPE_H
