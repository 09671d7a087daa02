// The type Dispatcher: name spaces of operators.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; given up while the library may wait.
// SPDX-License-Identifier: MIT

#include "python/dispatcher.h"

#include <keyway/library.h>
#include <keyway/observer.h>
#include <keyway/tensor.h>

#include "python/collect.h"
#include "python/error.h"
#include "python/interpreter.h"
#include "python/key.h"
#include "python/leaving.h"
#include "python/module.h"
#include "python/operator.h"
#include "python/wait.h"

static kwpy_dispatcher *dispatcher_of(PyObject *self)
{
    return (kwpy_dispatcher *)self;
}

bool kwpy_dispatcher_check(PyObject *object)
{
    return PyObject_TypeCheck(object, kwpy.dispatcher);
}

kw_dispatcher *kwpy_dispatcher_of(PyObject *object)
{
    if (!kwpy_dispatcher_check(object)) {
        (void)PyErr_Format(PyExc_TypeError, "expected a Dispatcher, but got %R",
                           (PyObject *)Py_TYPE(object));
        return NULL;
    }
    return dispatcher_of(object)->dispatcher;
}

bool kwpy_seconds_from(PyObject *object, uint64_t *out_ns)
{
    if (object == Py_None) {
        *out_ns = KW_FOREVER;
        return true;
    }
    double seconds = PyFloat_AsDouble(object);
    if (seconds == -1.0 && PyErr_Occurred()) {
        return false;
    }
    if (!(seconds >= 0)) {
        PyErr_SetString(PyExc_ValueError, "a time in seconds is not negative");
        return false;
    }
    // 500 years in nanoseconds do not fit, and nobody waits for them.
    *out_ns = seconds < 1e10 ? (uint64_t)(seconds * 1e9) : KW_FOREVER;
    return true;
}

static PyObject *find_or_make(PyObject *dispatcher, PyObject *address, const kw_operator *op)
{
    PyObject *operators = dispatcher_of(dispatcher)->operators;
    PyObject *found = PyDict_GetItemWithError(operators, address);
    if (found != NULL || PyErr_Occurred()) {
        Py_XINCREF(found);
        return found;
    }
    found = kwpy_operator_new(dispatcher, op);
    if (found != NULL && PyDict_SetItem(operators, address, found) != 0) {
        Py_DECREF(found);
        return NULL;
    }
    return found;
}

PyObject *kwpy_dispatcher_operator(PyObject *dispatcher, const kw_operator *op)
{
    if (dispatcher_of(dispatcher)->operators == NULL) {
        return kwpy_operator_new(dispatcher, op); // the garbage collector is at it
    }
    PyObject *address = PyLong_FromVoidPtr((void *)(uintptr_t)op);
    PyObject *found = address != NULL ? find_or_make(dispatcher, address, op) : NULL;
    Py_XDECREF(address);
    return found;
}

// The type
// --------------------------------------------------------------------------------------------

static PyObject *make(PyTypeObject *type, kw_dispatcher *take_dispatcher, bool is_default)
{
    PyObject *self = PyType_GenericAlloc(type, 0);
    if (self != NULL) {
        dispatcher_of(self)->dispatcher = take_dispatcher;
        dispatcher_of(self)->is_default = is_default;
        dispatcher_of(self)->operators = PyDict_New();
    }
    if (self != NULL && dispatcher_of(self)->operators != NULL) {
        return self;
    }
    Py_XDECREF(self);
    return NULL;
}

static PyObject *dispatcher_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"bare", "duplicates", NULL};
    int bare = 0;
    unsigned duplicates = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$pI:Dispatcher", KWPY_NAMES(names), &bare,
                                     &duplicates)) {
        return NULL;
    }
    kwpy_leaving_reap();
    const kw_dispatcher_options options = {.struct_size = sizeof options,
                                           .tensor_type = kw_tensor_reference_type(),
                                           .bare = bare != 0,
                                           .duplicates = duplicates};
    kw_dispatcher *dispatcher = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_dispatcher_create(&options, &dispatcher, &err);
    Py_END_ALLOW_THREADS;
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    PyObject *self = make(type, dispatcher, false);
    if (self == NULL) {
        kwpy_leaving_put_dispatcher(dispatcher);
    } else if (!bare && !kwpy_attach(self)) {
        Py_CLEAR(self);
    }
    return self;
}

static PyObject *dispatcher_default(PyObject *type, PyObject *unused)
{
    (void)unused;
    kw_dispatcher *dispatcher = NULL;
    Py_BEGIN_ALLOW_THREADS;
    dispatcher = kw_dispatcher_default();
    Py_END_ALLOW_THREADS;
    if (dispatcher == NULL) {
        return kwpy_raise_text(KW_NO_MEMORY, "the default dispatcher could not be made");
    }
    // It is attached when its tensors are known to be reference tensors.
    return make((PyTypeObject *)type, dispatcher, true);
}

static int dispatcher_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(dispatcher_of(self)->operators);
    for (kwpy_callback *one = dispatcher_of(self)->callbacks; one != NULL; one = one->next) {
        Py_VISIT(one->first);
        Py_VISIT(one->second);
    }
    return 0;
}

static int dispatcher_clear(PyObject *self)
{
    Py_CLEAR(dispatcher_of(self)->operators);
    return 0;
}

// Takes every callback back. Those that cannot be freed yet belong to nobody from then on, so that
// the garbage collector leaves alone what they hold.
static void dispatcher_end(PyObject *self)
{
    PyObject *type = NULL;
    PyObject *value = NULL;
    PyObject *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    while (dispatcher_of(self)->callbacks != NULL) {
        kwpy_callback *callback = dispatcher_of(self)->callbacks;
        dispatcher_of(self)->callbacks = callback->next;
        if (callback->next != NULL) {
            callback->next->link = &dispatcher_of(self)->callbacks;
        }
        callback->link = NULL;
        uint64_t number = callback->number;
        bool is_observer = callback->is_observer;
        kw_dispatcher *dispatcher = dispatcher_of(self)->dispatcher;
        kw_status status = KW_OK;
        Py_BEGIN_ALLOW_THREADS;
        status = is_observer ? kw_observer_remove(dispatcher, number, NULL)
                             : kw_dispatcher_unlisten(dispatcher, number);
        Py_END_ALLOW_THREADS;
        (void)status;
    }
    PyErr_Restore(type, value, traceback);
}

static void dispatcher_free(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    kwpy_detach(self); // before the GIL is given up: nobody may find it any more
    dispatcher_end(self);
    (void)dispatcher_clear(self);
    if (!dispatcher_of(self)->is_default) {
        kwpy_leaving_put_dispatcher(dispatcher_of(self)->dispatcher);
    }
    kwpy_type_free(self);
}

static PyObject *dispatcher_operator(PyObject *self, PyObject *object)
{
    const char *name = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    if (name == NULL) {
        return PyErr_Occurred() ? NULL
                                : PyErr_Format(PyExc_TypeError, "an operator's name is a str");
    }
    const kw_operator *op = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_operator_find(dispatcher_of(self)->dispatcher, name, &op, &err);
    return status == KW_OK ? kwpy_dispatcher_operator(self, op) : kwpy_raise(status, &err);
}

static PyObject *dispatcher_wait(PyObject *self, PyObject *args)
{
    const char *name = NULL;
    PyObject *timeout = Py_None;
    uint64_t timeout_ns = 0;
    if (!PyArg_ParseTuple(args, "s|O:wait", &name, &timeout) ||
        !kwpy_seconds_from(timeout, &timeout_ns)) {
        return NULL;
    }
    const kw_operator *op = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    kwpy_wait wait = kwpy_wait_begin(timeout_ns);
    do {
        Py_BEGIN_ALLOW_THREADS;
        status = kw_operator_wait(dispatcher_of(self)->dispatcher, name, wait.slice_ns, &op, &err);
        Py_END_ALLOW_THREADS;
    } while ((status == KW_NOT_FOUND || status == KW_OPERATOR_UNDEFINED) && kwpy_wait_again(&wait));
    if (PyErr_Occurred()) {
        return NULL;
    }
    return status == KW_OK ? kwpy_dispatcher_operator(self, op) : kwpy_raise(status, &err);
}

static void visit_operator(const kw_operator *op, void *context)
{
    if (kwpy_collection_resume(context)) {
        kwpy_collection_add(context, PyUnicode_FromString(kw_operator_name(op)));
    }
}

static PyObject *dispatcher_operators(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"key", "dangling", NULL};
    PyObject *key_object = Py_None;
    int dangling = 0;
    kw_key key = KW_KEY_Undefined;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$Op:operators", KWPY_NAMES(names), &key_object,
                                     &dangling) ||
        (key_object != Py_None && !kwpy_key_from(key_object, &key))) {
        return NULL;
    }
    kwpy_collection found;
    if (!kwpy_collection_begin(&found)) {
        return NULL;
    }
    kw_dispatcher *dispatcher = dispatcher_of(self)->dispatcher;
    kw_status status = KW_OK;
    if (dangling) {
        status = kw_dispatcher_visit_dangling(dispatcher, visit_operator, &found);
    } else if (key_object != Py_None) {
        status = kw_dispatcher_visit_key(dispatcher, key, visit_operator, &found);
    } else {
        status = kw_dispatcher_visit(dispatcher, visit_operator, &found);
    }
    PyObject *list = kwpy_collection_end(&found, status, NULL);
    if (list != NULL && PyList_Sort(list) != 0) {
        Py_CLEAR(list);
    }
    return list;
}

static PyObject *dispatcher_address(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(dispatcher_of(self)->dispatcher);
}

static PyMethodDef methods[] = {
    {"_default", dispatcher_default, METH_NOARGS | METH_CLASS, NULL},
    {"operator", dispatcher_operator, METH_O,
     "operator($self, name, /)\n--\n\nFinds an operator by name, ns::name or ns::name.overload."},
    {"wait", dispatcher_wait, METH_VARARGS,
     "wait($self, name, timeout=None, /)\n--\n\nWaits until an operator has a definition."},
    {"operators", KWPY_METHOD(dispatcher_operators), METH_VARARGS | METH_KEYWORDS,
     "operators($self, *, key=None, dangling=False)\n--\n\nThe names of the operators."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"address", dispatcher_address, NULL, "The address of the C dispatcher.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef all_methods[16];

static PyType_Slot slots[] = {
    {Py_tp_doc, KWPY_TEXT("A name space of operators.")},
    {Py_tp_new, KWPY_SLOT(dispatcher_make)},
    {Py_tp_dealloc, KWPY_SLOT(dispatcher_free)},
    {Py_tp_finalize, KWPY_SLOT(dispatcher_end)},
    {Py_tp_traverse, KWPY_SLOT(dispatcher_traverse)},
    {Py_tp_clear, KWPY_SLOT(dispatcher_clear)},
    {Py_tp_methods, all_methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

// The Python half derives the class that programs see.
static PyType_Spec spec = {
    .name = "keyway._keyway.Dispatcher",
    .basicsize = sizeof(kwpy_dispatcher),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool kwpy_dispatcher_add(PyObject *module)
{
    return kwpy_methods_join(all_methods, sizeof all_methods / sizeof all_methods[0], methods,
                             kwpy_listen_methods) &&
           kwpy_type_add(module, &spec, &kwpy.dispatcher);
}
