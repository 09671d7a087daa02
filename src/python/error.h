// Errors: statuses as exceptions, and exceptions as the failures of kernels.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT
//
// Note [Exceptions through C]
//
// A Python kernel that raises leaves its exception with the thread and fails with one sentence, as
// a C kernel does. Whatever lies between, the call that Python made gets a status and the thread's
// text. If the text begins with that sentence the failure is the exception's, which is raised
// again: the same object. Otherwise somebody on the way had a failure of his own.

#ifndef KWI_PYTHON_ERROR_H
#define KWI_PYTHON_ERROR_H

#include <keyway/status.h>

#include "python/python.h"

// Raise what a function answered. Return NULL, for a return statement.
PyObject *kwpy_raise(kw_status status, const kw_error *err);
PyObject *kwpy_raise_text(kw_status status, const char *format, ...) KW_PRINTF(2, 3);

// Raises why the thread's last call failed.
PyObject *kwpy_raise_call(kw_status status);

// Takes the exception that is set, keeps it with the thread, and fails as a kernel does.
kw_status kwpy_fail(void);

// Forgets an exception that a call which succeeded has left behind.
void kwpy_forget(void);

// Writes the exception that is set to sys.unraisablehook: nobody can be told of it.
void kwpy_report(PyObject *where);

#endif // KWI_PYTHON_ERROR_H
