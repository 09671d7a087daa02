// What an Operator says of its table and its registrations.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; given up while the library may wait.
// SPDX-License-Identifier: MIT

#include <keyway/inspect.h>

#include "python/collect.h"
#include "python/error.h"
#include "python/key.h"
#include "python/module.h"
#include "python/operator.h"

static const kw_operator *op_of(PyObject *self)
{
    return ((kwpy_operator *)self)->op;
}

static PyObject *has_kernel(PyObject *self, PyObject *object)
{
    kw_key key = KW_KEY_Undefined;
    if (!kwpy_key_from(object, &key)) {
        return NULL;
    }
    bool has = false;
    Py_BEGIN_ALLOW_THREADS;
    has = kw_operator_has_kernel(op_of(self), key);
    Py_END_ALLOW_THREADS;
    return PyBool_FromLong(has);
}

static PyObject *has_computed_kernel(PyObject *self, PyObject *object)
{
    kw_key key = KW_KEY_Undefined;
    return kwpy_key_from(object, &key)
               ? PyBool_FromLong(kw_operator_has_computed_kernel(op_of(self), key))
               : NULL;
}

static void visit_row(const kw_table_row *row, void *context)
{
    if (!kwpy_collection_resume(context)) {
        return;
    }
    PyObject *item = PyObject_CallFunction(
        kwpy.table_row, "NNszsiNsss", kwpy_key_new(row->key), kwpy_key_new(row->registered),
        row->kernel, row->library, row->file, (int)row->line, PyBool_FromLong(row->is_fallthrough),
        row->rule, row->reason, row->sentence);
    kwpy_collection_add(context, item);
}

static PyObject *table(PyObject *self, PyObject *unused)
{
    (void)unused;
    kwpy_collection rows;
    if (!kwpy_collection_begin(&rows)) {
        return NULL;
    }
    kw_status status = kw_operator_visit_table(op_of(self), visit_row, &rows);
    return kwpy_collection_end(&rows, status, NULL);
}

static const char *kind_of(const kw_registration_row *row)
{
    static const char *const kinds[] = {"definition", "unboxed", "boxed", "fallthrough"};
    return row->kind < sizeof kinds / sizeof kinds[0] ? kinds[row->kind] : "unknown";
}

static void visit_registration(const kw_registration_row *row, void *context)
{
    if (!kwpy_collection_resume(context)) {
        return;
    }
    PyObject *item = PyObject_CallFunction(
        kwpy.registration_row, "KNNNsszsii", (unsigned long long)row->registration,
        PyBool_FromLong(row->is_definition), PyBool_FromLong(row->is_active),
        kwpy_key_new(row->key), kind_of(row), row->name, row->library, row->file, (int)row->line,
        (int)row->priority);
    kwpy_collection_add(context, item);
}

static PyObject *registrations(PyObject *self, PyObject *unused)
{
    (void)unused;
    kwpy_collection rows;
    if (!kwpy_collection_begin(&rows)) {
        return NULL;
    }
    kw_status status = kw_operator_visit_registrations(op_of(self), visit_registration, &rows);
    return kwpy_collection_end(&rows, status, NULL);
}

typedef kw_status (*dumper)(const kw_operator *op, kw_write_function write, void *context);

static PyObject *write_dump(PyObject *self, dumper dump)
{
    kwpy_writing writing = {.text = NULL};
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = dump(op_of(self), kwpy_writing_write, &writing);
    Py_END_ALLOW_THREADS;
    PyObject *text = kwpy_writing_end(&writing);
    if (status != KW_OK) {
        Py_XDECREF(text);
        return kwpy_raise(status, NULL);
    }
    return text;
}

static PyObject *dump(PyObject *self, PyObject *unused)
{
    (void)unused;
    return write_dump(self, kw_operator_dump);
}

static PyObject *dump_table(PyObject *self, PyObject *unused)
{
    (void)unused;
    return write_dump(self, kw_operator_dump_table);
}

PyMethodDef kwpy_inspect_methods[] = {
    {"has_kernel", has_kernel, METH_O,
     "has_kernel($self, key, /)\n--\n\nWhether a kernel is registered under exactly this key."},
    {"has_computed_kernel", has_computed_kernel, METH_O,
     "has_computed_kernel($self, key, /)\n--\n\nWhether a call of this key reaches a kernel."},
    {"table", table, METH_NOARGS, "table($self)\n--\n\nThe rows of the computed table."},
    {"registrations", registrations, METH_NOARGS,
     "registrations($self)\n--\n\nThe registrations, newest first."},
    {"dump", dump, METH_NOARGS, "dump($self)\n--\n\nThe registrations as a text."},
    {"dump_table", dump_table, METH_NOARGS,
     "dump_table($self)\n--\n\nThe computed table as a text."},
    {NULL, NULL, 0, NULL},
};
