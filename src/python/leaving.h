// What Python has let go of and the library still needs: libraries, plugins and dispatchers that a
// call, a snapshot or an object holds up.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; given up while the library may wait.
// SPDX-License-Identifier: MIT
//
// They are tried again whenever something is created or let go of, and when Python ends.

#ifndef KWI_PYTHON_LEAVING_H
#define KWI_PYTHON_LEAVING_H

#include <keyway/dispatcher.h>
#include <keyway/library.h>
#include <keyway/plugin.h>

#include "python/python.h"

// Each takes its thing and ends it, at once or later. `take_dispatcher` is a reference to the
// Dispatcher that the thing needs.
void kwpy_leaving_put_library(kw_library *take_library, PyObject *take_dispatcher);
void kwpy_leaving_put_plugin(kw_plugin *take_plugin, PyObject *take_dispatcher);
void kwpy_leaving_put_dispatcher(kw_dispatcher *take_dispatcher);

// Tries what is left again.
void kwpy_leaving_reap(void);

// How many are left.
Py_ssize_t kwpy_leaving_count(void);

// Python ends: closes every library of Python's, so that no call comes to its kernels any more.
void kwpy_leaving_end(void);

#endif // KWI_PYTHON_LEAVING_H
