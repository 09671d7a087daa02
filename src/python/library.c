// The type Library: the owners of what Python registers.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; given up while the library may wait.
// SPDX-License-Identifier: MIT

#include "python/library.h"

#include <stdlib.h>

#include <keyway/tensor.h>

#include "python/dispatcher.h"
#include "python/error.h"
#include "python/leaving.h"
#include "python/module.h"
#include "python/register.h"
#include "python/wait.h"

static kwpy_library *libraries; // guard: the GIL

static kwpy_library *library_of(PyObject *self)
{
    return (kwpy_library *)self;
}

bool kwpy_library_check(PyObject *object)
{
    return PyObject_TypeCheck(object, kwpy.library);
}

kw_library *kwpy_library_enter(PyObject *object)
{
    if (!kwpy_library_check(object)) {
        (void)PyErr_Format(PyExc_TypeError, "expected a Library, but got %R",
                           (PyObject *)Py_TYPE(object));
        return NULL;
    }
    kw_library *library = library_of(object)->library;
    if (library == NULL) {
        (void)kwpy_raise_text(KW_LIBRARY_CLOSED, "the library has been destroyed");
        return NULL;
    }
    library_of(object)->users++;
    return library;
}

void kwpy_library_leave(PyObject *self)
{
    library_of(self)->users--;
}

static PyObject *library_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"dispatcher", "ns",   "kind", "key", "name",
                                        "ns_as",      "file", "line", NULL};
    PyObject *dispatcher = NULL;
    kw_library_options options = {.struct_size = sizeof options,
                                  .tensor_type = kw_tensor_reference_type()};
    unsigned key = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OzIIzzzI:Library", KWPY_NAMES(names),
                                     &dispatcher, &options.ns, &options.kind, &key, &options.name,
                                     &options.ns_as, &options.file, &options.line)) {
        return NULL;
    }
    options.dispatcher = kwpy_dispatcher_of(dispatcher);
    options.key = (kw_key)key;
    if (options.dispatcher == NULL) {
        return NULL;
    }
    kwpy_leaving_reap();
    PyObject *self = PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    kw_library *library = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_library_create(&options, &library, &err);
    Py_END_ALLOW_THREADS;
    if (status != KW_OK) {
        Py_DECREF(self);
        return kwpy_raise(status, &err);
    }
    Py_INCREF(dispatcher);
    library_of(self)->dispatcher = dispatcher;
    library_of(self)->library = library;
    library_of(self)->next = libraries;
    library_of(self)->link = &libraries;
    if (libraries != NULL) {
        libraries->link = &library_of(self)->next;
    }
    libraries = library_of(self);
    return self;
}

static int library_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(library_of(self)->dispatcher);
    return kwpy_kernels_traverse(library_of(self)->kernels, visit, arg);
}

// All is in the finaliser: see Note [Who holds a Python kernel].
static int library_clear(PyObject *self)
{
    (void)self;
    return 0;
}

static void library_end(PyObject *self)
{
    kw_library *library = library_of(self)->library;
    if (library == NULL) {
        return;
    }
    library_of(self)->library = NULL;
    library_of(self)->is_closed = true;
    kwpy_kernels_orphan(&library_of(self)->kernels);
    Py_INCREF(library_of(self)->dispatcher);
    kwpy_leaving_put_library(library, library_of(self)->dispatcher);
}

static void library_free(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    library_end(self);
    if (library_of(self)->link != NULL) {
        *library_of(self)->link = library_of(self)->next;
        if (library_of(self)->next != NULL) {
            library_of(self)->next->link = library_of(self)->link;
        }
    }
    Py_CLEAR(library_of(self)->dispatcher);
    kwpy_type_free(self);
}

static PyObject *library_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    kw_library *library = kwpy_library_enter(self);
    if (library == NULL) {
        PyErr_Clear(); // destroyed, so closed
        Py_RETURN_NONE;
    }
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_library_close(library, &err);
    Py_END_ALLOW_THREADS;
    kwpy_library_leave(self);
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    library_of(self)->is_closed = true;
    Py_RETURN_NONE;
}

static PyObject *library_drain(PyObject *self, PyObject *args)
{
    PyObject *timeout = Py_None;
    uint64_t timeout_ns = 0;
    if (!PyArg_ParseTuple(args, "|O:drain", &timeout) || !kwpy_seconds_from(timeout, &timeout_ns)) {
        return NULL;
    }
    kw_library *library = kwpy_library_enter(self);
    if (library == NULL) {
        PyErr_Clear(); // destroyed, so drained
        Py_RETURN_NONE;
    }
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    kwpy_wait wait = kwpy_wait_begin(timeout_ns);
    do {
        Py_BEGIN_ALLOW_THREADS;
        status = kw_library_drain(library, wait.slice_ns, &err);
        Py_END_ALLOW_THREADS;
    } while (status == KW_BUSY && kwpy_wait_again(&wait));
    kwpy_library_leave(self);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    Py_RETURN_NONE;
}

static PyObject *library_destroy(PyObject *self, PyObject *unused)
{
    (void)unused;
    kw_library *library = library_of(self)->library;
    if (library == NULL) {
        Py_RETURN_NONE;
    }
    if (library_of(self)->users > 0) {
        return kwpy_raise_text(KW_BUSY, "another thread uses the library");
    }
    library_of(self)->library = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_library_destroy(library, &err);
    Py_END_ALLOW_THREADS;
    if (status != KW_OK) {
        library_of(self)->library = library;
        return kwpy_raise(status, &err);
    }
    kwpy_leaving_reap();
    Py_RETURN_NONE;
}

void kwpy_libraries_close(void)
{
    for (kwpy_library *one = libraries; one != NULL; one = one->next) {
        Py_INCREF((PyObject *)one);
        PyObject *done = library_close((PyObject *)one, NULL);
        PyErr_Clear();
        Py_XDECREF(done);
        // The last reference, if it is one, is left: the list must not change under the loop.
    }
}

static PyObject *library_name(PyObject *self, void *closure)
{
    (void)closure;
    kw_library *library = kwpy_library_enter(self);
    if (library == NULL) {
        return NULL;
    }
    PyObject *name = PyUnicode_FromString(kw_library_name(library));
    kwpy_library_leave(self);
    return name;
}

static PyObject *library_dispatcher(PyObject *self, void *closure)
{
    (void)closure;
    Py_INCREF(library_of(self)->dispatcher);
    return library_of(self)->dispatcher;
}

static PyObject *library_closed(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(library_of(self)->is_closed);
}

static PyMethodDef methods[] = {
    {"close", library_close, METH_NOARGS,
     "close($self)\n--\n\nTakes back everything, in one commit; calls that run go on."},
    {"drain", library_drain, METH_VARARGS,
     "drain($self, timeout=None, /)\n--\n\n"
     "Waits until nothing of a closed library is in use; the time is in seconds."},
    {"destroy", library_destroy, METH_NOARGS,
     "destroy($self)\n--\n\nEnds a library that is closed and drained."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"name", library_name, NULL, "The name.", NULL},
    {"dispatcher", library_dispatcher, NULL, "The dispatcher.", NULL},
    {"closed", library_closed, NULL, "Whether it has been closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef all_methods[16];

static PyType_Slot slots[] = {
    {Py_tp_doc, KWPY_TEXT("The owner of registrations.")},
    {Py_tp_new, KWPY_SLOT(library_make)},
    {Py_tp_dealloc, KWPY_SLOT(library_free)},
    {Py_tp_finalize, KWPY_SLOT(library_end)},
    {Py_tp_traverse, KWPY_SLOT(library_traverse)},
    {Py_tp_clear, KWPY_SLOT(library_clear)},
    {Py_tp_methods, all_methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

// The Python half derives the class that programs see.
static PyType_Spec spec = {
    .name = "keyway._keyway.Library",
    .basicsize = sizeof(kwpy_library),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool kwpy_library_add(PyObject *module)
{
    return kwpy_methods_join(all_methods, sizeof all_methods / sizeof all_methods[0], methods,
                             kwpy_register_methods) &&
           kwpy_type_add(module, &spec, &kwpy.library);
}
