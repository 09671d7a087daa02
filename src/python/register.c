// Registering: what a Library defines, implements and takes back, at once or in a transaction.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; given up during a commit.
// SPDX-License-Identifier: MIT
//
// Each method's last argument is a Transaction, or None: then the change is a commit of its own.

#include "python/register.h"

#include <stdbool.h>

#include "python/collect.h"
#include "python/error.h"
#include "python/key.h"
#include "python/library.h"
#include "python/transaction.h"

// A change on its way: the library is entered, and the transaction, if any, takes it.
typedef struct staged_change {
    PyObject *self;
    PyObject *tx_object;
    kw_library *library;
    kw_transaction *tx; // NULL: none
    kw_registration number;
    kw_error err;
} staged_change;

static bool change_begin(staged_change *change, PyObject *self, PyObject *tx_object)
{
    const kw_error fresh = KW_ERROR_INIT;
    *change = (struct staged_change){.self = self, .tx_object = tx_object, .err = fresh};
    change->library = kwpy_library_enter(self);
    if (change->library == NULL) {
        return false;
    }
    if (tx_object != Py_None) {
        change->tx = kwpy_transaction_stage(tx_object, self);
        if (change->tx == NULL) {
            kwpy_library_leave(self);
            return false;
        }
    }
    return true;
}

static PyObject *change_end(staged_change *change, kw_status status)
{
    kwpy_library_leave(change->self);
    return status == KW_OK ? PyLong_FromUnsignedLongLong(change->number)
                           : kwpy_raise(status, &change->err);
}

static PyObject *define(PyObject *self, PyObject *args)
{
    kw_definition definition = KW_DEFINE(NULL);
    unsigned long long tags = 0;
    PyObject *tx = NULL;
    staged_change change;
    if (!PyArg_ParseTuple(args, "sKzIO:define", &definition.schema, &tags, &definition.file,
                          &definition.line, &tx) ||
        !change_begin(&change, self, tx)) {
        return NULL;
    }
    definition.tags = tags;
    kw_status status = KW_OK;
    if (change.tx != NULL) {
        status = kw_transaction_define(change.tx, change.library, &definition, &change.number,
                                       &change.err);
    } else {
        Py_BEGIN_ALLOW_THREADS;
        status = kw_library_define(change.library, &definition, &change.number, &change.err);
        Py_END_ALLOW_THREADS;
    }
    return change_end(&change, status);
}

// Registers a kernel that is described: for an operator, or with `name` NULL as a fallback.
static kw_status put_kernel(staged_change *change, const char *name, kw_key key,
                            const kw_kernel_descriptor *kernel)
{
    kw_status status = KW_OK;
    if (change->tx != NULL) {
        return name != NULL ? kw_transaction_impl(change->tx, change->library, name, key, kernel,
                                                  &change->number, &change->err)
                            : kw_transaction_fallback(change->tx, change->library, key, kernel,
                                                      &change->number, &change->err);
    }
    Py_BEGIN_ALLOW_THREADS;
    status =
        name != NULL
            ? kw_library_impl(change->library, name, key, kernel, &change->number, &change->err)
            : kw_library_fallback(change->library, key, kernel, &change->number, &change->err);
    Py_END_ALLOW_THREADS;
    return status;
}

static PyObject *put(PyObject *self, const char *name, PyObject *key_object,
                     kwpy_kernel_options *options, PyObject *tx)
{
    kw_key key = KW_KEY_Undefined;
    if (key_object != Py_None && !kwpy_key_from(key_object, &key)) {
        return NULL;
    }
    staged_change change;
    if (!change_begin(&change, self, tx)) {
        return NULL;
    }
    options->dispatcher = ((kwpy_library *)self)->dispatcher;
    kwpy_kernel *record = NULL;
    kw_kernel_descriptor descriptor;
    PyObject *texts = NULL;
    if (!kwpy_kernel_describe(options, &((kwpy_library *)self)->kernels, &record, &descriptor,
                              &texts)) {
        kwpy_library_leave(self);
        return NULL;
    }
    kw_status status = put_kernel(&change, name, key, &descriptor);
    Py_DECREF(texts);
    if (status != KW_OK) {
        kwpy_kernel_discard(record);
    } else if (change.tx != NULL) {
        kwpy_transaction_staged(tx, record);
    }
    return change_end(&change, status);
}

static PyObject *impl(PyObject *self, PyObject *args)
{
    const char *name = NULL;
    PyObject *key = NULL;
    PyObject *tx = NULL;
    int with_keyset = 0;
    int with_op = 0;
    kwpy_kernel_options options = {.function = NULL};
    if (!PyArg_ParseTuple(args, "sOOppziIO:impl", &name, &key, &options.function, &with_keyset,
                          &with_op, &options.schema, &options.priority, &options.duplicates, &tx)) {
        return NULL;
    }
    options.with_keyset = with_keyset != 0;
    options.with_op = with_op != 0;
    return put(self, name, key, &options, tx);
}

static PyObject *fallback(PyObject *self, PyObject *args)
{
    PyObject *key = NULL;
    PyObject *tx = NULL;
    int with_keyset = 0;
    kwpy_kernel_options options = {.with_op = true};
    if (!PyArg_ParseTuple(args, "OOpO:fallback", &key, &options.function, &with_keyset, &tx)) {
        return NULL;
    }
    options.with_keyset = with_keyset != 0;
    return put(self, NULL, key, &options, tx);
}

static PyObject *take_back(PyObject *self, PyObject *args)
{
    unsigned long long number = 0;
    PyObject *tx = NULL;
    staged_change change;
    if (!PyArg_ParseTuple(args, "KO:remove", &number, &tx) || !change_begin(&change, self, tx)) {
        return NULL;
    }
    change.number = number;
    kw_status status = KW_OK;
    if (change.tx != NULL) {
        status = kw_transaction_remove(change.tx, change.library, number, &change.err);
    } else {
        Py_BEGIN_ALLOW_THREADS;
        status = kw_library_remove(change.library, number, &change.err);
        Py_END_ALLOW_THREADS;
    }
    return change_end(&change, status);
}

static PyObject *close_in(PyObject *self, PyObject *tx)
{
    staged_change change;
    if (!change_begin(&change, self, tx)) {
        return NULL;
    }
    kw_status status = kw_transaction_close(change.tx, change.library, &change.err);
    return change_end(&change, status);
}

static const char *holder_name(const kw_holder *holder)
{
    static const char *const names[] = {"nothing", "call", "snapshot", "shared snapshot", "object"};
    return holder->kind < sizeof names / sizeof names[0] ? names[holder->kind] : "unknown";
}

static void visit_holder(const kw_holder *holder, void *context)
{
    if (!kwpy_collection_resume(context)) {
        return;
    }
    PyObject *text = PyUnicode_FromFormat("%s of thread %u through %s", holder_name(holder),
                                          (unsigned)holder->thread_id,
                                          holder->op != NULL ? holder->op : "no operator");
    kwpy_collection_add(context, text);
}

static PyObject *holders(PyObject *self, PyObject *unused)
{
    (void)unused;
    kw_library *library = kwpy_library_enter(self);
    kwpy_collection found;
    if (library == NULL) {
        return NULL;
    }
    PyObject *list = NULL;
    if (kwpy_collection_begin(&found)) {
        kw_status status = kw_library_holders(library, visit_holder, &found);
        list = kwpy_collection_end(&found, status, NULL);
    }
    kwpy_library_leave(self);
    return list;
}

PyMethodDef kwpy_register_methods[] = {
    {"_define", define, METH_VARARGS, NULL},
    {"_impl", impl, METH_VARARGS, NULL},
    {"_fallback", fallback, METH_VARARGS, NULL},
    {"_remove", take_back, METH_VARARGS, NULL},
    {"_close_in", close_in, METH_O, NULL},
    {"holders", holders, METH_NOARGS,
     "holders($self)\n--\n\nWhat holds the library at this moment, as texts."},
    {NULL, NULL, 0, NULL},
};
