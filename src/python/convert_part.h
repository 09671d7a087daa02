// The pieces of the conversion from Python, between the files that share it.
//
// Layer:   python (public headers only)
// Threads: one, which holds the GIL.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_CONVERT_PART_H
#define KWI_PYTHON_CONVERT_PART_H

#include "python/convert.h"

// Says that an object does not fit a type; false.
bool kwpy_misfit(kwpy_conversion *conversion, PyObject *object, const kw_type *type);

// A type without parts; and of these, tensors.
bool kwpy_plain_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                     kw_value *out_value);
bool kwpy_tensor_value_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                            kw_value *out_value);

#endif // KWI_PYTHON_CONVERT_PART_H
