// The type Dispatcher: name spaces of operators.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; given up while the library may wait.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_DISPATCHER_H
#define KWI_PYTHON_DISPATCHER_H

#include <stdbool.h>

#include <keyway/dispatcher.h>

#include "python/python.h"

// Callbacks that a Dispatcher has registered, so that the garbage collector sees what they hold.
typedef struct kwpy_callback {
    struct kwpy_callback *next;
    struct kwpy_callback **link; // what points to this one; NULL: no Dispatcher any more
    PyObject *first;             // functions; NULL allowed
    PyObject *second;
    uint64_t number;
    bool is_observer;
} kwpy_callback;

typedef struct kwpy_dispatcher {
    PyObject base;
    kw_dispatcher *dispatcher;
    PyObject *operators; // from addresses to Operators
    kwpy_callback *callbacks;
    bool is_default;
} kwpy_dispatcher;

bool kwpy_dispatcher_check(PyObject *object);

// The C dispatcher of a Dispatcher, borrowed; NULL with an exception.
kw_dispatcher *kwpy_dispatcher_of(PyObject *object);

// The one Operator of a handle. A new reference; NULL with an exception.
PyObject *kwpy_dispatcher_operator(PyObject *dispatcher, const kw_operator *op);

// Seconds to nanoseconds; None: for ever. False with an exception.
bool kwpy_seconds_from(PyObject *object, uint64_t *out_ns);

// A callback's record: made, linked, and, from any thread, ended.
kwpy_callback *kwpy_callback_new(PyObject *dispatcher, PyObject *first, PyObject *second);
void kwpy_callback_end(void *callback);
void kwpy_callback_free(kwpy_callback *callback); // with the GIL

// Methods of other files.
extern PyMethodDef kwpy_listen_methods[];

#endif // KWI_PYTHON_DISPATCHER_H
