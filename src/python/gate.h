// The gate: how C code enters Python from any thread, and how Python's end closes it.
//
// Layer:   python (public headers only)
// Threads: any.
// SPDX-License-Identifier: MIT
//
// Note [The end of Python]
//
// A thread that asks for the GIL while Python ends never returns: CPython ends it or lets it hang.
// So whoever enters is counted before it asks, and the end closes the gate and waits for the
// count, without the GIL, before Python itself begins to go down. Who comes later is refused: a
// kernel fails with a sentence, a destructor leaves its object where it is.

#ifndef KWI_PYTHON_GATE_H
#define KWI_PYTHON_GATE_H

#include <stdbool.h>

#include "python/python.h"

// Takes the GIL, on a thread that may have it already or never heard of Python. False: Python has
// ended, and nothing of it may be touched.
bool kwpy_enter(PyGILState_STATE *out_state);
void kwpy_leave(PyGILState_STATE state);

// Whether Python has ended once.
bool kwpy_gate_is_closed(void);

// Gives a reference back from any thread.
void kwpy_drop(PyObject *object);

#endif // KWI_PYTHON_GATE_H
