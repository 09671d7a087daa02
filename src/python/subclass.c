// Classes whose instances take over operators: making instances, and what their handlers inherit.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include "python/subclass.h"

#include <keyway/local.h>
#include <keyway/tensor_view.h>

#include "python/create.h"
#include "python/error.h"
#include "python/module.h"

#define HANDLER "__kw_dispatch__"

// Whether the class itself, not one of its bases, has a handler.
static int defines_handler(PyObject *type)
{
    PyObject *names = PyObject_GetAttrString(type, "__dict__");
    PyObject *handler = PyUnicode_FromString(HANDLER);
    int found = names != NULL && handler != NULL ? PySequence_Contains(names, handler) : -1;
    Py_XDECREF(names);
    Py_XDECREF(handler);
    return found;
}

int kwpy_type_dispatches(PyTypeObject *type)
{
    PyObject *order = PyObject_GetAttrString((PyObject *)type, "__mro__");
    int found = order != NULL ? 0 : -1;
    for (Py_ssize_t i = 0; found == 0 && i < PyTuple_Size(order); i++) {
        PyObject *base = PyTuple_GetItem(order, i);
        if (base == (PyObject *)kwpy.tensor) {
            break;
        }
        found = defines_handler(base);
    }
    Py_XDECREF(order);
    return found;
}

// Makes an instance of a class, with a reference to the tensor that it takes, also on failure.
static PyObject *instance(PyTypeObject *type, kw_tensor *take_tensor)
{
    int dispatches = kwpy_type_dispatches(type);
    PyObject *self = dispatches >= 0 ? PyType_GenericAlloc(type, 0) : NULL;
    if (self == NULL) {
        kw_tensor_release(take_tensor);
        return NULL;
    }
    ((kwpy_tensor *)self)->tensor = take_tensor;
    kw_tensor_set_python_dispatch(take_tensor, dispatches == 1);
    if (!kwpy_identity_bind(self)) {
        Py_CLEAR(self);
    }
    return self;
}

static PyObject *make_subclass(PyObject *type, PyObject *object)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *tensor = kwpy_tensor_of(object), *made = NULL;
    if (tensor == NULL) {
        return NULL;
    }
    kw_status status = kw_tensor_detach(tensor, &made, &err);
    return status == KW_OK ? instance((PyTypeObject *)type, made) : kwpy_raise(status, &err);
}

static PyObject *make_wrapper(PyObject *type, PyObject *args, PyObject *kwargs)
{
    kwpy_creation creation;
    kw_error err = KW_ERROR_INIT;
    kw_tensor *made = NULL;
    if (!kwpy_creation_parse(args, kwargs, &creation)) {
        return NULL;
    }
    creation.options.metadata_only = true;
    kw_status status = kw_tensor_create(&creation.options, &made, &err);
    return status == KW_OK ? instance((PyTypeObject *)type, made) : kwpy_raise(status, &err);
}

// Calls the operator with all Python handlers of this thread switched off: what the handler of a
// subclass means by super().
static PyObject *go_below(PyObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"op", "types", "args", "kwargs", NULL};
    PyObject *op, *types, *op_args = NULL, *op_kwargs = NULL;
    kw_local_guard guard;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:" HANDLER, KWPY_NAMES(names), &op, &types,
                                     &op_args, &op_kwargs)) {
        return NULL;
    }
    if (op_kwargs != NULL && op_kwargs != Py_None && !PyDict_Check(op_kwargs)) {
        return PyErr_Format(PyExc_TypeError, HANDLER ": kwargs is a dict or None, not %R",
                            (PyObject *)Py_TYPE(op_kwargs));
    }
    kw_keyset keys = kw_keyset_union(kw_keyset_from_key(KW_KEY_Python),
                                     kw_keyset_from_key(KW_KEY_PythonTLSSnapshot));
    PyObject *positional = op_args != NULL ? PySequence_Tuple(op_args) : PyTuple_New(0);
    if (positional == NULL) {
        return NULL;
    }
    kw_status status = kw_local_exclude(keys, &guard);
    if (status != KW_OK) {
        Py_DECREF(positional);
        return kwpy_raise(status, NULL);
    }
    PyObject *result = PyObject_Call(op, positional, op_kwargs == Py_None ? NULL : op_kwargs);
    kw_local_restore(&guard);
    Py_DECREF(positional);
    return result;
}

PyMethodDef kwpy_subclass_methods[] = {
    {"make_subclass", make_subclass, METH_O | METH_CLASS,
     "make_subclass($type, tensor, /)\n--\n\n"
     "An instance for a tensor of its own with the same storage, shape and version."},
    {"make_wrapper", KWPY_METHOD(make_wrapper), METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "make_wrapper($type, shape, *, strides=None, dtype='float32', device='cpu', layout=0)\n--\n\n"
     "An instance with metadata only."},
    {HANDLER, KWPY_METHOD(go_below), METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     HANDLER "($type, op, types, args=(), kwargs=None)\n--\n\n"
             "Calls the operator with Python's handlers switched off."},
    {NULL, NULL, 0, NULL},
};
