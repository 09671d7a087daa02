// Binding: Python's arguments in a frame, by a schema, and the returns of a frame in Python.
//
// Layer:   python (public headers only)
// Threads: one, which holds the GIL.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_BIND_H
#define KWI_PYTHON_BIND_H

#include <stdbool.h>

#include <keyway/frame.h>

#include "python/arena.h"
#include "python/python.h"
#include "python/schema.h"

// As many as most operators have lie in place: calls of Python nest a thousand deep.
#define KWPY_BOUND_ARGS 12
#define KWPY_BOUND_RETURNS 3

// The arguments of one call. Values are borrowed from the objects, which the caller keeps, and from
// the arena.
typedef struct kwpy_bound {
    kw_frame frame;
    PyObject **objects; // the objects that the arguments were made of; NULL: a default
    kwpy_arena arena;
    kw_value args[KWPY_BOUND_ARGS];
    kw_value returns[KWPY_BOUND_RETURNS];
    PyObject *object_places[KWPY_BOUND_ARGS];
} kwpy_bound;

// Binds `args` from index `first` on, and `kwargs`, which may be NULL. False with a TypeError that
// names the operator, the argument and its type. On success ends with kwpy_bound_fini().
bool kwpy_bind(kwpy_bound *bound, const char *op_name, kwpy_schema *schema, PyObject *args,
               Py_ssize_t first, PyObject *kwargs);
void kwpy_bound_fini(kwpy_bound *bound);

// Takes the returns out of the frame: None, an object, or a tuple. A tensor that is an argument is
// that argument's object. NULL with an exception; the frame's returns are gone in any case.
PyObject *kwpy_bound_results(kwpy_bound *bound, const kwpy_schema *schema);

// The reverse, for kernels: positional arguments, from index `first` of a new tuple on, and
// keyword-only ones, if there are any, in a new dict. False with an exception.
bool kwpy_unbind(const kwpy_schema *schema, const kw_frame *frame, Py_ssize_t first,
                 PyObject **out_args, PyObject **out_kwargs);

// Puts what a kernel returned into its frame. False with an exception.
bool kwpy_set_returns(const char *op_name, const kwpy_schema *schema, kw_frame *frame,
                      PyObject *result);

#endif // KWI_PYTHON_BIND_H
