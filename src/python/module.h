// The module's state: its types, and what the package's Python half hands to it.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL. Set while the module is imported, read afterwards.
// SPDX-License-Identifier: MIT
//
// One for the process: the module refuses a second interpreter, because kernels run on threads that
// belong to no interpreter, and PyGILState_Ensure() finds the main one.

#ifndef KWI_PYTHON_MODULE_H
#define KWI_PYTHON_MODULE_H

#include <stdbool.h>

#include "python/python.h"

typedef struct kwpy_state {
    // Types that C defines.
    PyTypeObject *keyset;
    PyTypeObject *tensor;
    PyTypeObject *object;
    PyTypeObject *generator;
    PyTypeObject *schema;
    PyTypeObject *op;
    PyTypeObject *kernel_handle;
    PyTypeObject *dispatcher;
    PyTypeObject *library;
    PyTypeObject *transaction;
    PyTypeObject *plugin;
    PyTypeObject *snapshot;
    PyTypeObject *shared_snapshot;
    PyTypeObject *guard;

    // What the Python half defines; the names are those that kwpy_bind() takes.
    PyObject *make_error;     // (status, text, position or None) -> exception
    PyObject *error;          // the class Error
    PyObject *key;            // the class Key
    PyObject *dtypes;         // a tuple of the members of DType, by number
    PyObject *layouts;        // likewise
    PyObject *memory_formats; // likewise
    PyObject *device;         // the class Device, a tuple of two integers
    PyObject *fallthrough;    // the one object
    PyObject *argument;       // classes of rows
    PyObject *table_row;
    PyObject *registration_row;
    PyObject *event;
    PyObject *observation;
    PyObject *plugin_info;
    PyObject *plugin_item;
    PyObject *resolve; // (op, keys, args, kwargs) -> result
} kwpy_state;

extern kwpy_state kwpy;

// Adds a type to the module and keeps it in `*out_type`.
bool kwpy_type_add(PyObject *module, PyType_Spec *spec, PyTypeObject **out_type);

// The end of a type's dealloc: frees the object, and gives its type back.
void kwpy_type_free(PyObject *self);

// Adds functions to the module.
bool kwpy_functions_add(PyObject *module, PyMethodDef *functions);

// Puts two tables of methods, each with its end, into one for a type. False with an exception: it
// is too small.
bool kwpy_methods_join(PyMethodDef *out_methods, size_t room, const PyMethodDef *first,
                       const PyMethodDef *second);

// What each file brings; false with an exception.
bool kwpy_gate_add(PyObject *module);
bool kwpy_keyset_add(PyObject *module);
bool kwpy_key_add(PyObject *module);
bool kwpy_dtype_add(PyObject *module);
bool kwpy_tensor_add(PyObject *module);
bool kwpy_create_add(PyObject *module);
bool kwpy_object_add(PyObject *module);
bool kwpy_schema_add(PyObject *module);
bool kwpy_operator_add(PyObject *module);
bool kwpy_handle_add(PyObject *module);
bool kwpy_dispatcher_add(PyObject *module);
bool kwpy_library_add(PyObject *module);
bool kwpy_transaction_add(PyObject *module);
bool kwpy_plugin_add(PyObject *module);
bool kwpy_snapshot_add(PyObject *module);
bool kwpy_local_add(PyObject *module);
bool kwpy_process_add(PyObject *module);
bool kwpy_interpreter_add(PyObject *module);
bool kwpy_mode_add(PyObject *module);

#endif // KWI_PYTHON_MODULE_H
