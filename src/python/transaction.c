// The type Transaction: changes that become visible at one instant.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; given up during a commit.
// SPDX-License-Identifier: MIT

#include "python/transaction.h"

#include <stdbool.h>

#include "python/dispatcher.h"
#include "python/error.h"
#include "python/module.h"

typedef struct transaction_object {
    PyObject base;
    kw_transaction *tx;   // NULL: it has ended
    PyObject *dispatcher; // a Dispatcher
    PyObject *libraries;  // of its changes
    kwpy_kernel *staged;  // records that are the caller's until the commit
} transaction_object;

static transaction_object *transaction_of(PyObject *self)
{
    return (transaction_object *)self;
}

kw_transaction *kwpy_transaction_stage(PyObject *object, PyObject *library)
{
    if (!PyObject_TypeCheck(object, kwpy.transaction)) {
        (void)PyErr_Format(PyExc_TypeError, "expected a Transaction, but got %R",
                           (PyObject *)Py_TYPE(object));
        return NULL;
    }
    if (transaction_of(object)->tx == NULL) {
        (void)kwpy_raise_text(KW_WRONG_ORDER, "the transaction has ended");
        return NULL;
    }
    return PyList_Append(transaction_of(object)->libraries, library) == 0
               ? transaction_of(object)->tx
               : NULL;
}

void kwpy_transaction_staged(PyObject *self, kwpy_kernel *kernel)
{
    if (kernel != NULL) {
        kernel->staged_next = transaction_of(self)->staged;
        transaction_of(self)->staged = kernel;
    }
}

// Nothing of it happened: the records are still the caller's.
static void discard_staged(PyObject *self)
{
    kwpy_kernel *kernel = transaction_of(self)->staged;
    transaction_of(self)->staged = NULL;
    while (kernel != NULL) {
        kwpy_kernel *next = kernel->staged_next;
        kwpy_kernel_discard(kernel);
        kernel = next;
    }
}

static PyObject *transaction_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"dispatcher", NULL};
    PyObject *dispatcher = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Transaction", KWPY_NAMES(names),
                                     &dispatcher)) {
        return NULL;
    }
    kw_dispatcher *c_dispatcher = kwpy_dispatcher_of(dispatcher);
    PyObject *self = c_dispatcher != NULL ? PyType_GenericAlloc(type, 0) : NULL;
    if (self == NULL) {
        return NULL;
    }
    Py_INCREF(dispatcher);
    transaction_of(self)->dispatcher = dispatcher;
    transaction_of(self)->libraries = PyList_New(0);
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    if (transaction_of(self)->libraries != NULL) {
        status = kw_transaction_begin(c_dispatcher, &transaction_of(self)->tx, &err);
    }
    if (transaction_of(self)->libraries == NULL || status != KW_OK) {
        Py_DECREF(self);
        return status != KW_OK ? kwpy_raise(status, &err) : NULL;
    }
    return self;
}

static int transaction_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(transaction_of(self)->dispatcher);
    Py_VISIT(transaction_of(self)->libraries);
    return 0;
}

static void end(PyObject *self)
{
    kw_transaction *tx = transaction_of(self)->tx;
    transaction_of(self)->tx = NULL;
    kw_transaction_abort(tx);
    discard_staged(self);
}

static int transaction_clear(PyObject *self)
{
    end(self);
    Py_CLEAR(transaction_of(self)->libraries);
    Py_CLEAR(transaction_of(self)->dispatcher);
    return 0;
}

static void transaction_free(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    (void)transaction_clear(self);
    kwpy_type_free(self);
}

static PyObject *transaction_commit(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"defer_reclaim", NULL};
    int defer = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$p:commit", KWPY_NAMES(names), &defer)) {
        return NULL;
    }
    kw_transaction *tx = transaction_of(self)->tx;
    if (tx == NULL) {
        return kwpy_raise_text(KW_WRONG_ORDER, "the transaction has ended");
    }
    transaction_of(self)->tx = NULL;
    const kw_commit_options options = {.struct_size = sizeof options, .defer_reclaim = defer != 0};
    uint64_t version = 0;
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_transaction_commit(tx, &options, &version, &err);
    Py_END_ALLOW_THREADS;
    if (status != KW_OK) {
        discard_staged(self);
        return kwpy_raise(status, &err);
    }
    // Records belong to the registry, which may have ended some of them already.
    transaction_of(self)->staged = NULL;
    return PyLong_FromUnsignedLongLong(version);
}

static PyObject *transaction_abort(PyObject *self, PyObject *unused)
{
    (void)unused;
    end(self);
    Py_RETURN_NONE;
}

static PyObject *transaction_ended(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(transaction_of(self)->tx == NULL);
}

static PyMethodDef methods[] = {
    {"commit", KWPY_METHOD(transaction_commit), METH_VARARGS | METH_KEYWORDS,
     "commit($self, *, defer_reclaim=False)\n--\n\nMakes it visible; returns the version."},
    {"abort", transaction_abort, METH_NOARGS, "abort($self)\n--\n\nEnds it without effect."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"_ended", transaction_ended, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, KWPY_TEXT("Changes that become visible at one instant.")},
    {Py_tp_new, KWPY_SLOT(transaction_make)},
    {Py_tp_dealloc, KWPY_SLOT(transaction_free)},
    {Py_tp_traverse, KWPY_SLOT(transaction_traverse)},
    {Py_tp_clear, KWPY_SLOT(transaction_clear)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

// The Python half derives the class that programs see.
static PyType_Spec spec = {
    .name = "keyway._keyway.Transaction",
    .basicsize = sizeof(transaction_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool kwpy_transaction_add(PyObject *module)
{
    return kwpy_type_add(module, &spec, &kwpy.transaction);
}
