// CPython as an interpreter of the library: the table of functions that take over operators.
//
// Layer:   python (public headers only)
// Threads: any, unless a function says otherwise.
// SPDX-License-Identifier: MIT
//
// Note [Python is disarmed]
//
// Tensors, modes and operators of the dispatcher live on when Python ends, and other threads go on
// calling. At exit the interpreter is disarmed first: nobody enters a function of the table any
// more, and calls that need Python fail with a sentence. Then the gate closes, and waits for those
// that are inside: Note [The end of Python] in gate.h. The GIL is given up meanwhile, so that a
// thread which waits for it inside the table can come out.

#ifndef KWI_PYTHON_INTERPRETER_H
#define KWI_PYTHON_INTERPRETER_H

#include <stdbool.h>

#include <keyway/dispatcher.h>
#include <keyway/interpreter.h>

#include "python/python.h"

// The interpreter that stands for this process's Python. Never NULL once the module is there.
kw_interpreter *kwpy_interpreter(void);

// Gives the dispatcher of a Dispatcher the fallbacks of the keys that Python takes over, in a
// library of their own, unless somebody else has: they serve every interpreter. Its tensors must be
// reference tensors. Again: nothing happens. False with an exception.
bool kwpy_attach(PyObject *dispatcher);

// Takes them back, now or when nothing uses them any more: before the Dispatcher ends. Those of the
// default dispatcher stay.
void kwpy_detach(PyObject *dispatcher);

// The one Operator of a handle, of whatever Dispatcher that is attached. A new reference; NULL with
// an exception.
PyObject *kwpy_attached_operator(const kw_operator *op);

bool kwpy_interpreter_add(PyObject *module);

#endif // KWI_PYTHON_INTERPRETER_H
