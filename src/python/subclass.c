// Classes whose instances take over operators: making instances, and what their handlers inherit.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include "python/subclass.h"

#include <keyway/local.h>
#include <keyway/tensor_view.h>

#include "python/dtype.h"
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
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *self = dispatches >= 0 ? allocate(type, 0) : NULL;
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

// What make_wrapper() was asked for.
typedef struct wrapper {
    int64_t sizes[KW_TENSOR_DIM_MAX], strides[KW_TENSOR_DIM_MAX];
    kw_tensor_options options;
} wrapper;

static bool wrapper_shape(wrapper *made, PyObject *shape, PyObject *strides)
{
    uint32_t count = 0;
    made->options.sizes = made->sizes;
    if (!kwpy_ints_from(shape, made->sizes, &made->options.dim)) {
        return false;
    }
    if (strides == NULL || strides == Py_None) {
        return true;
    }
    made->options.strides = made->strides;
    if (!kwpy_ints_from(strides, made->strides, &count)) {
        return false;
    }
    if (count != made->options.dim) {
        (void)PyErr_Format(PyExc_ValueError, "%u sizes have %u strides", made->options.dim, count);
    }
    return count == made->options.dim;
}

static PyObject *make_wrapper(PyObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"shape", "strides", "dtype", "device", "layout", NULL};
    PyObject *shape, *strides = NULL, *dtype = NULL, *device = NULL, *layout = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_tensor *tensor = NULL;
    wrapper made = {.options = {.struct_size = sizeof(kw_tensor_options),
                                .dtype = KW_DTYPE_FLOAT32,
                                .device = {KW_DEVICE_CPU, -1},
                                .metadata_only = 1}};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOO:make_wrapper", KWPY_NAMES(names),
                                     &shape, &strides, &dtype, &device, &layout) ||
        !wrapper_shape(&made, shape, strides) ||
        (dtype != NULL && !kwpy_dtype_from(dtype, &made.options.dtype)) ||
        (device != NULL && !kwpy_device_from(device, &made.options.device)) ||
        (layout != NULL && !kwpy_layout_from(layout, &made.options.layout))) {
        return NULL;
    }
    kw_status status = kw_tensor_create(&made.options, &tensor, &err);
    return status == KW_OK ? instance((PyTypeObject *)type, tensor) : kwpy_raise(status, &err);
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
    kw_keyset keys = kw_keyset_union(kw_keyset_from_key(KW_KEY_Python),
                                     kw_keyset_from_key(KW_KEY_PythonTLSSnapshot));
    kw_status status = kw_local_exclude(keys, &guard);
    if (status != KW_OK) {
        return kwpy_raise(status, NULL);
    }
    PyObject *none = op_args == NULL ? PyTuple_New(0) : Py_NewRef(op_args);
    PyObject *result =
        none != NULL ? PyObject_Call(op, none, op_kwargs == Py_None ? NULL : op_kwargs) : NULL;
    Py_XDECREF(none);
    kw_local_restore(&guard);
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
