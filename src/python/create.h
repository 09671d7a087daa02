// Making tensors: the arguments of keyway.empty(), for whoever takes the same.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_CREATE_H
#define KWI_PYTHON_CREATE_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/tensor.h>

#include "python/python.h"

// Options with the memory that they point to.
typedef struct kwpy_creation {
    kw_tensor_options options;
    int64_t sizes[KW_TENSOR_DIM_MAX];
    int64_t strides[KW_TENSOR_DIM_MAX];
} kwpy_creation;

// Reads (shape, *, dtype, device, strides, layout, inference, keys). False with an exception.
bool kwpy_creation_parse(PyObject *args, PyObject *kwargs, kwpy_creation *out);

#endif // KWI_PYTHON_CREATE_H
