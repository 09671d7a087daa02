// Devices: types in the order of PyTorch's numbers.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/device.h"

#include <string.h>

#include "schema/number.h"

static const char *const types[] = {
    "cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
    "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
    "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuseone",
};

#define TYPE_COUNT (sizeof types / sizeof types[0])

static bool find_type(const char *text, size_t length, int32_t *out_type)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (strlen(types[i]) == length && memcmp(types[i], text, length) == 0) {
            *out_type = (int32_t)i;
            return true;
        }
    }
    return false;
}

static bool parse_index(const char *text, size_t length, int32_t *out_index)
{
    int64_t index = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
    }
    bool padded = length > 1 && text[0] == '0';
    if (length == 0 || padded || !kwi_number_integer(text, length, false, &index) ||
        index > INT32_MAX) {
        return false;
    }
    *out_index = (int32_t)index;
    return true;
}

bool kwi_device_parse(const char *text, size_t length, kwi_device *out_device)
{
    const char *colon = memchr(text, ':', length);
    size_t type_length = colon != NULL ? (size_t)(colon - text) : length;
    kwi_device device = {.index = -1};
    if (!find_type(text, type_length, &device.type) ||
        (colon != NULL && !parse_index(colon + 1, length - type_length - 1, &device.index))) {
        return false;
    }
    *out_device = device;
    return true;
}

void kwi_device_print(kwi_device device, kwi_text *text)
{
    kwi_text_add(text, "%s", types[device.type]);
    if (device.index >= 0) {
        kwi_text_add(text, ":%d", (int)device.index);
    }
}
