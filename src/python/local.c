// The type Guard: the calling thread's include and exclude sets, for the length of a block.
//
// Layer:   python (public headers only)
// Threads: a Guard is left on the thread that entered it.
// SPDX-License-Identifier: MIT

#include <keyway/local.h>

#include "python/error.h"
#include "python/key.h"
#include "python/module.h"

typedef enum guard_kind {
    GUARD_INCLUDE,
    GUARD_EXCLUDE,
    GUARD_FORCE,
    GUARD_BELOW_AUTOGRAD,
    GUARD_BELOW_VIEW,
    GUARD_INFERENCE,
    GUARD_NO_INFERENCE,
    GUARD_KIND_COUNT
} guard_kind;

typedef struct guard_object {
    PyObject base;
    int kind;
    kw_local_state state; // what is wanted
    kw_local_guard guard; // while it is entered
    unsigned long thread; // that entered it
    bool is_entered;
} guard_object;

static guard_object *guard_of(PyObject *self)
{
    return (guard_object *)self;
}

static PyObject *guard_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"", "", "", NULL};
    int kind = 0;
    kw_local_state state = {kw_keyset_empty(), kw_keyset_empty()};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "iO&O&:Guard", KWPY_NAMES(names), &kind,
                                     kwpy_keyset_converter, &state.included, kwpy_keyset_converter,
                                     &state.excluded)) {
        return NULL;
    }
    if (kind < 0 || kind >= GUARD_KIND_COUNT) {
        return PyErr_Format(PyExc_ValueError, "%d is no kind of guard", kind);
    }
    PyObject *self = PyType_GenericAlloc(type, 0);
    if (self != NULL) {
        guard_of(self)->kind = kind;
        guard_of(self)->state = state;
    }
    return self;
}

static void guard_free(PyObject *self)
{
    kwpy_type_free(self);
}

static kw_status apply(guard_object *object)
{
    switch ((guard_kind)object->kind) {
    case GUARD_INCLUDE:
        return kw_local_include(object->state.included, &object->guard);
    case GUARD_EXCLUDE:
        return kw_local_exclude(object->state.excluded, &object->guard);
    case GUARD_FORCE:
        return kw_local_force(object->state, &object->guard);
    case GUARD_BELOW_AUTOGRAD:
        return kw_local_below_autograd(&object->guard);
    case GUARD_BELOW_VIEW:
        return kw_local_below_view(&object->guard);
    case GUARD_INFERENCE:
        return kw_local_inference_mode(true, &object->guard);
    case GUARD_NO_INFERENCE:
        return kw_local_inference_mode(false, &object->guard);
    case GUARD_KIND_COUNT:
        break;
    }
    return KW_INTERNAL;
}

static PyObject *guard_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    guard_object *object = guard_of(self);
    if (object->is_entered) {
        return kwpy_raise_text(KW_WRONG_ORDER, "the guard is entered already");
    }
    kw_status status = apply(object);
    if (status != KW_OK) {
        return kwpy_raise(status, NULL);
    }
    object->is_entered = true;
    object->thread = PyThread_get_thread_ident();
    Py_INCREF(self);
    return self;
}

static PyObject *guard_exit(PyObject *self, PyObject *args)
{
    (void)args;
    guard_object *object = guard_of(self);
    if (!object->is_entered) {
        return kwpy_raise_text(KW_WRONG_ORDER, "the guard is not entered");
    }
    if (object->thread != PyThread_get_thread_ident()) {
        return kwpy_raise_text(KW_WRONG_ORDER, "another thread entered the guard");
    }
    object->is_entered = false;
    kw_local_restore(&object->guard);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"__enter__", guard_enter, METH_NOARGS, NULL},
    {"__exit__", guard_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, KWPY_TEXT("A state of the calling thread, for the length of a block.")},
    {Py_tp_new, KWPY_SLOT(guard_make)},
    {Py_tp_dealloc, KWPY_SLOT(guard_free)},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "keyway.Guard",
    .basicsize = sizeof(guard_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

static PyObject *local_sets(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    kw_local_state state = kw_local_capture();
    return Py_BuildValue("(NN)", kwpy_keyset_new(state.included), kwpy_keyset_new(state.excluded));
}

static PyObject *is_included(PyObject *module, PyObject *object)
{
    (void)module;
    kw_key key = KW_KEY_Undefined;
    return kwpy_key_from(object, &key) ? PyBool_FromLong(kw_local_is_included(key)) : NULL;
}

static PyObject *is_excluded(PyObject *module, PyObject *object)
{
    (void)module;
    kw_key key = KW_KEY_Undefined;
    return kwpy_key_from(object, &key) ? PyBool_FromLong(kw_local_is_excluded(key)) : NULL;
}

static PyMethodDef functions[] = {
    {"local_sets", local_sets, METH_NOARGS,
     "local_sets()\n--\n\nWhat the thread includes in and excludes from its calls."},
    {"is_included", is_included, METH_O, "is_included(key, /)\n--\n\nWhether all of a key is."},
    {"is_excluded", is_excluded, METH_O, "is_excluded(key, /)\n--\n\nWhether all of a key is."},
    {NULL, NULL, 0, NULL},
};

bool kwpy_local_add(PyObject *module)
{
    return kwpy_type_add(module, &spec, &kwpy.guard) && kwpy_functions_add(module, functions);
}
