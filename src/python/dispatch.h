// Operators that Python takes over: from a call's frame to a handler and back.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT
//
// Note [Who is asked]
//
// A mode is asked first, with the mode itself off. If it answers NotImplemented, and when there is
// none, the classes of the tensors among the arguments are asked, each once, in the order of the
// arguments; a class before those it derives from. The mode, if there is one, is on while they are.
// Every handler gets the operator, these classes, and the arguments as one would write the call:
// trailing positional ones and keyword-only ones that equal their defaults are left out.

#ifndef KWI_PYTHON_DISPATCH_H
#define KWI_PYTHON_DISPATCH_H

#include <keyway/interpreter.h>

#include "python/python.h"

// Hooks of the interpreter: for the keys Python and PythonDispatcher.
kw_status kwpy_dispatch(const kw_interpreter_call *call);
kw_status kwpy_dispatch_resolve(const kw_interpreter_call *call);

#endif // KWI_PYTHON_DISPATCH_H
