// CPython as an interpreter of the library: the table of functions that take over operators.
//
// Layer:   python (public headers only)
// Threads: any, unless a function says otherwise.
// SPDX-License-Identifier: MIT
//
// Note [Python is disarmed]
//
// Tensors, modes and operators of the dispatcher live on when Python ends, and other threads go on
// calling. At exit, or when the module is torn down, the interpreter is disarmed first: no function
// of the table runs after that, and calls that need Python fail with a sentence. The GIL is given
// up meanwhile, so that a thread which waits for it inside the table can come out.

#ifndef KWI_PYTHON_INTERPRETER_H
#define KWI_PYTHON_INTERPRETER_H

#include <stdbool.h>

#include <keyway/dispatcher.h>
#include <keyway/interpreter.h>

#include "python/python.h"

// The interpreter that stands for this process's Python. Never NULL once the module is there.
kw_interpreter *kwpy_interpreter(void);

// Gives a dispatcher the fallbacks of the keys that Python takes over, in a library of its own, and
// takes them back. False with an exception. With the GIL.
bool kwpy_fallbacks_open(kw_dispatcher *dispatcher, kw_library **out_library);
bool kwpy_fallbacks_close(kw_library *take_library);

bool kwpy_interpreter_add(PyObject *module);

#endif // KWI_PYTHON_INTERPRETER_H
