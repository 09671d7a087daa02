// Keys of tensors, from inside: the set of a new tensor, names of devices for texts.
//
// Layer:   tensor
// Threads: any; constant tables only.
// SPDX-License-Identifier: MIT

#ifndef KWI_TENSOR_KEYS_H
#define KWI_TENSOR_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/keyset.h>

// What kw_tensor_keys_of() gives for the key of kw_tensor_backend_key(), of numbers that are valid:
// KW_OK, or KW_NOT_SUPPORTED.
kw_status kwi_keys_of_device(int32_t device_type, uint8_t layout, uint8_t dtype, bool is_inference,
                             kw_keyset *out_keys, kw_error *err);

// The name of a device type, such as "cuda"; NULL for numbers that are none.
const char *kwi_device_name(int32_t device_type);

#endif // KWI_TENSOR_KEYS_H
