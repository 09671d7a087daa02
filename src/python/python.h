// CPython's C API as the module uses it: the stable interface of Python 3.11.
//
// Layer:   python (public headers only)
// Threads: nothing here runs.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_PYTHON_H
#define KWI_PYTHON_PYTHON_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000 // NOLINT(readability-identifier-naming): Python's name
#include <Python.h>
#include <stdint.h>
#include <structmember.h>

// A function as the member of a PyType_Slot; ISO C has no such conversion.
#define KWPY_SLOT(function) (__extension__(void *)(function))

// A text as the member of a PyType_Slot, which does not change it.
#define KWPY_TEXT(text) ((void *)(uintptr_t)(text))

// A function with another type than PyCFunction's as the member of a PyMethodDef.
#define KWPY_METHOD(function) ((PyCFunction)(void (*)(void))(function))

// Names of arguments for PyArg_ParseTupleAndKeywords(), which does not change them.
#define KWPY_NAMES(names) ((char **)(uintptr_t)(names))

#endif // KWI_PYTHON_PYTHON_H
