// Keys and key sets: from and to Python's objects.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_KEY_H
#define KWI_PYTHON_KEY_H

#include <stdbool.h>

#include <keyway/key.h>
#include <keyway/keyset.h>

#include "python/python.h"

// Read what Python programs write for a key, a set or a backend: a Key, name or number; a KeySet,
// a text, or several of them. False with an exception.
bool kwpy_key_from(PyObject *object, kw_key *out_key);
bool kwpy_keyset_from(PyObject *object, kw_keyset *out_keys);
bool kwpy_backend_from(PyObject *object, kw_backend *out_backend);

// The same for PyArg_ParseTuple()'s O&.
int kwpy_key_converter(PyObject *object, void *out_key);
int kwpy_keyset_converter(PyObject *object, void *out_keys);

// Make a Key and a KeySet. New references; NULL with an exception.
PyObject *kwpy_key_new(kw_key key);
PyObject *kwpy_keyset_new(kw_keyset keys);

#endif // KWI_PYTHON_KEY_H
