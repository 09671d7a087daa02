// The type Library: the owners of what Python registers.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; given up while the library may wait.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_LIBRARY_H
#define KWI_PYTHON_LIBRARY_H

#include <stdbool.h>

#include <keyway/library.h>

#include "python/kernel.h"
#include "python/python.h"

typedef struct kwpy_library {
    PyObject base;
    struct kwpy_library *next; // of all that are alive
    struct kwpy_library **link;
    kw_library *library;  // NULL: destroyed
    PyObject *dispatcher; // a Dispatcher
    kwpy_kernel *kernels; // records that the registry has, or a transaction
    uint32_t users;       // threads that use `library` without the GIL
    bool is_closed;
} kwpy_library;

bool kwpy_library_check(PyObject *object);

// Begins a use of the C library without the GIL; NULL with an exception: it is no Library, or
// destroyed.
kw_library *kwpy_library_enter(PyObject *object);
void kwpy_library_leave(PyObject *self);

// Closes every Library.
void kwpy_libraries_close(void);

#endif // KWI_PYTHON_LIBRARY_H
