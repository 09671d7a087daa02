// The types Snapshot and SharedSnapshot.
//
// Layer:   python (public headers only)
// Threads: a Snapshot belongs to the thread that entered it; a SharedSnapshot to all.
// SPDX-License-Identifier: MIT

#include "python/snapshot.h"

#include <keyway/snapshot.h>

#include "python/error.h"
#include "python/module.h"

typedef struct snapshot_object {
    PyObject base;
    kw_snapshot snapshot;       // while it is open
    kw_shared_snapshot *shared; // whose version it opens, one reference; NULL: the newest
    bool is_open;
} snapshot_object;

typedef struct shared_object {
    PyObject base;
    kw_shared_snapshot *shared; // one reference
} shared_object;

static _Thread_local unsigned open_count;

bool kwpy_snapshot_is_open(void)
{
    return open_count > 0;
}

// Closes a snapshot that is open.
static kw_status close_open(snapshot_object *object)
{
    kw_status status = kw_snapshot_close(&object->snapshot);
    if (status == KW_OK) {
        object->is_open = false;
        open_count--;
    }
    return status;
}

static snapshot_object *snapshot_of(PyObject *self)
{
    return (snapshot_object *)self;
}

static kw_shared_snapshot *shared_of(PyObject *self)
{
    return ((shared_object *)self)->shared;
}

// Snapshots
// --------------------------------------------------------------------------------------------

static PyObject *snapshot_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {NULL};
    return PyArg_ParseTupleAndKeywords(args, kwargs, ":Snapshot", KWPY_NAMES(names))
               ? PyType_GenericAlloc(type, 0)
               : NULL;
}

static void snapshot_free(PyObject *self)
{
    // On another thread it cannot be closed: the end of its own does that.
    kw_status status = snapshot_of(self)->is_open ? close_open(snapshot_of(self)) : KW_OK;
    (void)status;
    kw_shared_snapshot_release(snapshot_of(self)->shared);
    kwpy_type_free(self);
}

static PyObject *snapshot_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    snapshot_object *object = snapshot_of(self);
    if (object->is_open) {
        return kwpy_raise_text(KW_WRONG_ORDER, "the snapshot is open");
    }
    kw_status status = object->shared != NULL
                           ? kw_shared_snapshot_enter(object->shared, &object->snapshot)
                           : kw_snapshot_open(&object->snapshot);
    if (status != KW_OK) {
        return kwpy_raise(status, NULL);
    }
    object->is_open = true;
    open_count++;
    Py_INCREF(self);
    return self;
}

static PyObject *snapshot_exit(PyObject *self, PyObject *args)
{
    (void)args;
    snapshot_object *object = snapshot_of(self);
    kw_status status = object->is_open ? close_open(object) : KW_WRONG_ORDER;
    if (status != KW_OK) {
        return kwpy_raise(status, NULL);
    }
    Py_RETURN_NONE;
}

static PyObject *shared_wrap(kw_shared_snapshot *take_shared)
{
    PyObject *self = PyType_GenericAlloc(kwpy.shared_snapshot, 0);
    if (self == NULL) {
        kw_shared_snapshot_release(take_shared);
        return NULL;
    }
    ((shared_object *)self)->shared = take_shared;
    return self;
}

static PyObject *snapshot_share(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (!snapshot_of(self)->is_open) {
        return kwpy_raise_text(KW_WRONG_ORDER, "the snapshot is not open");
    }
    const kw_snapshot open = snapshot_of(self)->snapshot;
    kw_shared_snapshot *shared = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_snapshot_share(&open, &shared, &err);
    Py_END_ALLOW_THREADS;
    return status == KW_OK ? shared_wrap(shared) : kwpy_raise(status, &err);
}

static PyObject *snapshot_version(PyObject *self, void *closure)
{
    (void)closure;
    if (!snapshot_of(self)->is_open) {
        Py_RETURN_NONE;
    }
    return PyLong_FromUnsignedLongLong(snapshot_of(self)->snapshot.version);
}

static PyMethodDef snapshot_methods[] = {
    {"__enter__", snapshot_enter, METH_NOARGS, NULL},
    {"__exit__", snapshot_exit, METH_VARARGS, NULL},
    {"share", snapshot_share, METH_NOARGS,
     "share($self)\n--\n\nThe version of an open snapshot, for other threads."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef snapshot_properties[] = {
    {"version", snapshot_version, NULL, "The version, while it is open.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot snapshot_slots[] = {
    {Py_tp_doc, KWPY_TEXT("Snapshot()\n--\n\nA block in which the thread sees one version.")},
    {Py_tp_new, KWPY_SLOT(snapshot_make)},
    {Py_tp_dealloc, KWPY_SLOT(snapshot_free)},
    {Py_tp_methods, snapshot_methods},
    {Py_tp_getset, snapshot_properties},
    {0, NULL},
};

static PyType_Spec snapshot_spec = {
    .name = "keyway.Snapshot",
    .basicsize = sizeof(snapshot_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = snapshot_slots,
};

// Shared snapshots
// --------------------------------------------------------------------------------------------

static PyObject *shared_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type;
    static const char *const names[] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, ":SharedSnapshot", KWPY_NAMES(names))) {
        return NULL;
    }
    kw_shared_snapshot *shared = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_shared_snapshot_create(&shared, &err);
    Py_END_ALLOW_THREADS;
    return status == KW_OK ? shared_wrap(shared) : kwpy_raise(status, &err);
}

static void shared_free(PyObject *self)
{
    kw_shared_snapshot *shared = shared_of(self);
    Py_BEGIN_ALLOW_THREADS;
    kw_shared_snapshot_release(shared);
    Py_END_ALLOW_THREADS;
    kwpy_type_free(self);
}

static PyObject *shared_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *snapshot = PyType_GenericAlloc(kwpy.snapshot, 0);
    if (snapshot != NULL) {
        snapshot_of(snapshot)->shared = kw_shared_snapshot_retain(shared_of(self));
    }
    return snapshot;
}

static PyObject *shared_version(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(kw_shared_snapshot_version(shared_of(self)));
}

static PyMethodDef shared_methods[] = {
    {"enter", shared_enter, METH_NOARGS,
     "enter($self)\n--\n\nA Snapshot of this version, for a with statement."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef shared_properties[] = {
    {"version", shared_version, NULL, "The version.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot shared_slots[] = {
    {Py_tp_doc, KWPY_TEXT("SharedSnapshot()\n--\n\nA version that threads use together.")},
    {Py_tp_new, KWPY_SLOT(shared_make)},
    {Py_tp_dealloc, KWPY_SLOT(shared_free)},
    {Py_tp_methods, shared_methods},
    {Py_tp_getset, shared_properties},
    {0, NULL},
};

static PyType_Spec shared_spec = {
    .name = "keyway.SharedSnapshot",
    .basicsize = sizeof(shared_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = shared_slots,
};

bool kwpy_snapshot_add(PyObject *module)
{
    return kwpy_type_add(module, &snapshot_spec, &kwpy.snapshot) &&
           kwpy_type_add(module, &shared_spec, &kwpy.shared_snapshot);
}
