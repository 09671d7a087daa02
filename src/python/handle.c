// The type KernelHandle: a kernel as a slot resolved to it once.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; calls give it up while they run.
// SPDX-License-Identifier: MIT

#include "python/error.h"
#include "python/key.h"
#include "python/module.h"
#include "python/operator.h"

typedef struct handle_object {
    PyObject base;
    kw_kernel_handle handle; // guard: immutable
    PyObject *op;            // one reference
} handle_object;

static handle_object *handle_of(PyObject *self)
{
    return (handle_object *)self;
}

PyObject *kwpy_handle_new(PyObject *op, kw_kernel_handle handle)
{
    PyObject *self = PyType_GenericAlloc(kwpy.kernel_handle, 0);
    if (self != NULL) {
        Py_INCREF(op);
        handle_of(self)->op = op;
        handle_of(self)->handle = handle;
    }
    return self;
}

static int handle_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(handle_of(self)->op);
    return 0;
}

static int handle_clear(PyObject *self)
{
    Py_CLEAR(handle_of(self)->op);
    return 0;
}

static void handle_free(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    (void)handle_clear(self);
    kwpy_type_free(self);
}

static kw_status run_handle(const kwpy_runner *runner, kw_frame *frame)
{
    return kw_kernel_call_boxed(runner->handle, runner->keys, frame);
}

static PyObject *handle_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    if (PyTuple_Size(args) == 0) {
        return PyErr_Format(PyExc_TypeError, "a kernel's handle is called with keys first");
    }
    const kw_kernel_handle handle = handle_of(self)->handle;
    kwpy_runner runner = {.run = run_handle, .handle = &handle};
    if (!kwpy_keyset_from(PyTuple_GetItem(args, 0), &runner.keys)) {
        return NULL;
    }
    PyObject *op = handle_of(self)->op;
    Py_INCREF(op);
    PyObject *result = kwpy_operator_run((kwpy_operator *)op, &runner, args, 1, kwargs);
    Py_DECREF(op);
    return result;
}

static PyObject *handle_registration(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(handle_of(self)->handle.registration);
}

static PyGetSetDef properties[] = {
    {"registration", handle_registration, NULL, "The kernel's number.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, KWPY_TEXT("A kernel, called with (keys, *args, **kwargs) while it serves.")},
    {Py_tp_dealloc, KWPY_SLOT(handle_free)},
    {Py_tp_traverse, KWPY_SLOT(handle_traverse)},
    {Py_tp_clear, KWPY_SLOT(handle_clear)},
    {Py_tp_call, KWPY_SLOT(handle_call)},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "keyway.KernelHandle",
    .basicsize = sizeof(handle_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

bool kwpy_handle_add(PyObject *module)
{
    return kwpy_type_add(module, &spec, &kwpy.kernel_handle);
}
