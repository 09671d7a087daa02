// Modes of a thread, and the resolver of a thread that has the PythonDispatcher on.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; both are the thread's own.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_MODE_H
#define KWI_PYTHON_MODE_H

#include <stdbool.h>

#include "python/python.h"

// The function that resolves calls of this thread: (op, keys, args, kwargs) -> result. Borrowed.
PyObject *kwpy_resolver(void);

bool kwpy_mode_add(PyObject *module);

#endif // KWI_PYTHON_MODE_H
