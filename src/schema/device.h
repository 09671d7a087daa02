// Devices: their spelling, as PyTorch's.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_DEVICE_H
#define KWI_SCHEMA_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "schema/constant.h"

// Reads "cuda" or "cuda:1": a known type, and an index without leading zeros.
bool kwi_device_parse(const char *text, size_t length, kwi_device *out_device);

void kwi_device_print(kwi_device device, kwi_text *text);

#endif // KWI_SCHEMA_DEVICE_H
