// The process: versions, figures, reclaiming, static registrations, limits.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; given up while the library may wait.
// SPDX-License-Identifier: MIT

#include <keyway/backlog.h>
#include <keyway/snapshot.h>
#include <keyway/startup.h>
#include <keyway/tensor.h>

#include "python/dispatcher.h"
#include "python/error.h"
#include "python/kernel.h"
#include "python/leaving.h"
#include "python/module.h"

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLongLong(kw_version());
}

static PyObject *status_name(PyObject *module, PyObject *object)
{
    (void)module;
    long status = PyLong_AsLong(object);
    return PyErr_Occurred() ? NULL : PyUnicode_FromString(kw_status_name((kw_status)status));
}

static PyObject *status_message(PyObject *module, PyObject *object)
{
    (void)module;
    long status = PyLong_AsLong(object);
    return PyErr_Occurred() ? NULL : PyUnicode_FromString(kw_status_message((kw_status)status));
}

// Puts a number into a dict, unless an exception is set.
static void put(PyObject *dict, const char *name, unsigned long long number)
{
    PyObject *object = PyErr_Occurred() ? NULL : PyLong_FromUnsignedLongLong(number);
    if (object != NULL) {
        (void)PyDict_SetItemString(dict, name, object);
    }
    Py_XDECREF(object);
}

#define PUT(dict, structure, member) put((dict), #member, (structure).member)

static void put_registry(PyObject *dict, const kw_statistics *figures)
{
    PUT(dict, *figures, version);
    PUT(dict, *figures, memory_bytes);
    PUT(dict, *figures, interned_bytes);
    PUT(dict, *figures, operator_count);
    PUT(dict, *figures, kernel_count);
    PUT(dict, *figures, retired_count);
    PUT(dict, *figures, retired_bytes);
    PUT(dict, *figures, thread_blocks);
    PUT(dict, *figures, forced_cleanups);
    PUT(dict, *figures, snapshot_count);
    PUT(dict, *figures, shared_snapshot_count);
    PUT(dict, *figures, held_version_count);
    PUT(dict, *figures, held_table_count);
    PUT(dict, *figures, held_table_bytes);
    PUT(dict, *figures, oldest_snapshot_ns);
    PUT(dict, *figures, oldest_version);
    PUT(dict, *figures, deferred_count);
    PUT(dict, *figures, deferred_bytes);
    PUT(dict, *figures, lease_count);
    PUT(dict, *figures, backlog_waits);
    PUT(dict, *figures, backlog_refusals);
}

static void put_tensors(PyObject *dict, const kw_tensor_statistics *figures)
{
    PUT(dict, *figures, tensor_count);
    PUT(dict, *figures, tensor_bytes);
    PUT(dict, *figures, extra_count);
    PUT(dict, *figures, storage_count);
    PUT(dict, *figures, storage_bytes);
    PUT(dict, *figures, external_bytes);
}

static PyObject *statistics(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    kw_statistics registry = {.struct_size = sizeof registry};
    kw_tensor_statistics tensors = {.struct_size = sizeof tensors};
    Py_BEGIN_ALLOW_THREADS;
    kw_statistics_get(&registry);
    kw_tensor_statistics_get(&tensors);
    Py_END_ALLOW_THREADS;
    PyObject *dict = PyDict_New();
    if (dict == NULL) {
        return NULL;
    }
    put_registry(dict, &registry);
    put_tensors(dict, &tensors);
    put(dict, "python_kernel_count", (unsigned long long)kwpy_kernel_count());
    put(dict, "python_leaving_count", (unsigned long long)kwpy_leaving_count());
    if (PyErr_Occurred()) {
        Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *reclaim(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_reclaim();
    Py_END_ALLOW_THREADS;
    if (status != KW_OK) {
        return kwpy_raise(status, NULL);
    }
    kwpy_leaving_reap();
    Py_RETURN_NONE;
}

static PyObject *startup(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static const char *const names[] = {"dispatcher", NULL};
    PyObject *object = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:startup", KWPY_NAMES(names), &object)) {
        return NULL;
    }
    kw_dispatcher *dispatcher = object != Py_None ? kwpy_dispatcher_of(object) : NULL;
    if (PyErr_Occurred()) {
        return NULL;
    }
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_startup(dispatcher, &err);
    Py_END_ALLOW_THREADS;
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    Py_RETURN_NONE;
}

static PyObject *backlog_limits(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static const char *const names[] = {"table_count", "table_bytes", "wait", "deferred_count",
                                        NULL};
    kw_backlog_limits limits = {.struct_size = sizeof limits};
    Py_BEGIN_ALLOW_THREADS;
    kw_backlog_limits_get(&limits);
    Py_END_ALLOW_THREADS;
    unsigned long long count = limits.table_count;
    unsigned long long bytes = limits.table_bytes;
    unsigned long long deferred = limits.deferred_count;
    PyObject *wait = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$KKOK:backlog_limits", KWPY_NAMES(names),
                                     &count, &bytes, &wait, &deferred) ||
        (wait != NULL && !kwpy_seconds_from(wait, &limits.wait_ns))) {
        return NULL;
    }
    limits.table_count = count;
    limits.table_bytes = bytes;
    limits.deferred_count = deferred;
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    if (kwargs != NULL && PyDict_Size(kwargs) > 0) {
        Py_BEGIN_ALLOW_THREADS;
        status = kw_backlog_limits_set(&limits, &err);
        Py_END_ALLOW_THREADS;
    }
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    return Py_BuildValue("{sKsKsdsK}", "table_count", count, "table_bytes", bytes, "wait",
                         (double)limits.wait_ns / 1e9, "deferred_count", deferred);
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, "version()\n--\n\nThe number of the newest commit."},
    {"statistics", statistics, METH_NOARGS, "statistics()\n--\n\nFigures of the process."},
    {"reclaim", reclaim, METH_NOARGS,
     "reclaim()\n--\n\nFrees every replaced table that nobody uses any more."},
    {"startup", KWPY_METHOD(startup), METH_VARARGS | METH_KEYWORDS,
     "startup(dispatcher=None)\n--\n\nCommits the static registrations of C code."},
    {"backlog_limits", KWPY_METHOD(backlog_limits), METH_VARARGS | METH_KEYWORDS,
     "backlog_limits(**limits)\n--\n\nSets the limits that are given, and returns all."},
    {"_status_name", status_name, METH_O, NULL},
    {"_status_message", status_message, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

bool kwpy_process_add(PyObject *module)
{
    return kwpy_functions_add(module, functions);
}
