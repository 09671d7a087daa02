// The arguments of a call as a handler gets them.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_DISPATCH_ARGS_H
#define KWI_PYTHON_DISPATCH_ARGS_H

#include <stdbool.h>

#include <keyway/frame.h>
#include <keyway/interpreter.h>

#include "python/python.h"
#include "python/schema.h"

// What every handler of a call gets. New references.
typedef struct kwpy_handling {
    PyObject *op;
    kwpy_schema *schema;
    PyObject *types;  // a tuple: the classes that are asked, in order
    PyObject *args;   // a tuple
    PyObject *kwargs; // a dict
} kwpy_handling;

// Fills in all members; false with an exception, and they are NULL.
bool kwpy_handling_init(kwpy_handling *handling, const kw_interpreter_call *call);
void kwpy_handling_fini(kwpy_handling *handling);

#endif // KWI_PYTHON_DISPATCH_ARGS_H
