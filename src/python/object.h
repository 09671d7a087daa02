// Counted objects and generators: values that C kernels see as addresses.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT
//
// A Python object that stands where the schema says `Any` becomes an object of the type
// "python.object", which holds a reference to it; back in Python it is itself again. Objects of C
// code are opaque: the type Object carries them.

#ifndef KWI_PYTHON_OBJECT_H
#define KWI_PYTHON_OBJECT_H

#include <stdbool.h>

#include <keyway/object.h>

#include "python/python.h"

// Makes a counted object that holds a Python object. One reference; NULL with an exception.
kw_object *kwpy_object_hold(PyObject *object);

// Makes the Python object of a counted one, which is borrowed. NULL with an exception.
PyObject *kwpy_object_new(kw_object *object);

bool kwpy_object_check(PyObject *object);
kw_object *kwpy_object_of(PyObject *object); // borrowed, of an Object

// A Generator is its own address to C kernels. An address that comes back from them is looked up,
// never followed: it may be another embedder's.
bool kwpy_generator_check(PyObject *object);
PyObject *kwpy_generator_find(const void *address);

#endif // KWI_PYTHON_OBJECT_H
