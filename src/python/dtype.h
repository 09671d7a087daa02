// Element types, layouts, memory formats and devices: from and to Python's objects.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_DTYPE_H
#define KWI_PYTHON_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/value.h>

#include "python/python.h"

// Read an element type: a DType, its number or name, or something with a `name`, as NumPy's types;
// a layout or memory format: its number or name; a device: a Device, two numbers or a text. False
// with an exception.
bool kwpy_dtype_from(PyObject *object, uint8_t *out_dtype);
bool kwpy_layout_from(PyObject *object, uint8_t *out_layout);
bool kwpy_memory_format_from(PyObject *object, uint8_t *out_format);
bool kwpy_device_from(PyObject *object, kw_device *out_device);

// Make the objects. A number that has no member gives an int. New references.
PyObject *kwpy_dtype_new(int64_t dtype);
PyObject *kwpy_layout_new(int64_t layout);
PyObject *kwpy_memory_format_new(int64_t format);
PyObject *kwpy_device_new(kw_device device);

#endif // KWI_PYTHON_DTYPE_H
