// The type Operator: handles of operators, and calls through them.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; calls give it up while they run.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_OPERATOR_H
#define KWI_PYTHON_OPERATOR_H

#include <keyway/call.h>
#include <keyway/dispatcher.h>

#include "python/python.h"
#include "python/schema.h"

typedef struct kwpy_operator {
    PyObject base;
    const kw_operator *op;
    PyObject *dispatcher;    // one reference: the handle is valid as long as it
    kwpy_schema *schema;     // of the last call; NULL: none yet
    uint64_t schema_version; // that it is of; 0: not known
    bool is_ours;            // the dispatcher's tensors are known to be reference tensors
} kwpy_operator;

bool kwpy_operator_check(PyObject *object);

// Makes an Operator. Others get one from kwpy_dispatcher_operator(), which keeps them.
PyObject *kwpy_operator_new(PyObject *dispatcher, const kw_operator *op);

// The schema that the operator has as of the thread's version; a new reference. NULL with an
// exception.
kwpy_schema *kwpy_operator_schema(kwpy_operator *self);

// Whether the tensors of the operator's dispatcher are reference tensors; else an exception.
bool kwpy_operator_is_ours(kwpy_operator *self);

// What runs a frame: a call, a redispatch, a call for one key, a kernel of a handle.
typedef struct kwpy_runner {
    kw_status (*run)(const struct kwpy_runner *runner, kw_frame *frame);
    const kw_operator *op;
    kw_keyset keys;
    kw_key key;
    const kw_kernel_handle *handle;
} kwpy_runner;

// Calls with the arguments from index `first` on. A new reference; NULL with an exception.
PyObject *kwpy_operator_run(kwpy_operator *self, const kwpy_runner *runner, PyObject *args,
                            Py_ssize_t first, PyObject *kwargs);

// Methods of other files.
extern PyMethodDef kwpy_inspect_methods[];
PyObject *kwpy_handle_new(PyObject *op, kw_kernel_handle handle);

#endif // KWI_PYTHON_OPERATOR_H
