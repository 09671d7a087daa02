// Keys of tensors, from inside: names of devices for texts.
//
// Layer:   tensor
// Threads: any; constant tables only.
// SPDX-License-Identifier: MIT

#ifndef KWI_TENSOR_KEYS_H
#define KWI_TENSOR_KEYS_H

#include <stdint.h>

// The name of a device type, such as "cuda"; NULL for numbers that are none.
const char *kwi_device_name(int32_t device_type);

#endif // KWI_TENSOR_KEYS_H
