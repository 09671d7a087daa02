// Filling tuples, lists and dicts item by item: a failure gives the whole up.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT
//
// Each takes the item's reference, also on failure; an item that is NULL, with an exception, is a
// failure. After one the place of the whole is NULL and the exception is set.

#ifndef KWI_PYTHON_PACK_H
#define KWI_PYTHON_PACK_H

#include "python/python.h"

void kwpy_tuple_put(PyObject **tuple, Py_ssize_t index, PyObject *take_item);
void kwpy_list_put(PyObject **list, Py_ssize_t index, PyObject *take_item);
void kwpy_list_add(PyObject **list, PyObject *take_item);

// The key is the caller's.
void kwpy_dict_put(PyObject **dict, PyObject *key, PyObject *take_item);

#endif // KWI_PYTHON_PACK_H
