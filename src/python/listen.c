// Listeners and observers of a Dispatcher: callbacks that the library makes.
//
// Layer:   python (public headers only)
// Threads: callbacks run in whatever thread commits or calls; they take the GIL.
// SPDX-License-Identifier: MIT

#include <stdlib.h>

#include <keyway/observer.h>

#include "python/bind.h"
#include "python/convert.h"
#include "python/dispatcher.h"
#include "python/error.h"
#include "python/gate.h"
#include "python/key.h"
#include "python/module.h"
#include "python/operator.h"
#include "python/pack.h"

// Records
// --------------------------------------------------------------------------------------------

kwpy_callback *kwpy_callback_new(PyObject *dispatcher, PyObject *first, PyObject *second)
{
    kwpy_callback *callback = malloc(sizeof *callback);
    if (callback == NULL) {
        return (kwpy_callback *)PyErr_NoMemory();
    }
    kwpy_callback **list = &((kwpy_dispatcher *)dispatcher)->callbacks;
    Py_XINCREF(first);
    Py_XINCREF(second);
    *callback = (kwpy_callback){.next = *list, .link = list, .first = first, .second = second};
    if (callback->next != NULL) {
        callback->next->link = &callback->next;
    }
    *list = callback;
    return callback;
}

void kwpy_callback_free(kwpy_callback *callback)
{
    if (callback->link != NULL) {
        *callback->link = callback->next;
        if (callback->next != NULL) {
            callback->next->link = callback->link;
        }
    }
    Py_XDECREF(callback->first);
    Py_XDECREF(callback->second);
    free(callback);
}

void kwpy_callback_end(void *callback)
{
    PyGILState_STATE state;
    if (kwpy_enter(&state)) {
        kwpy_callback_free(callback);
        kwpy_leave(state);
    }
}

// Listeners
// --------------------------------------------------------------------------------------------

static const char *event_name(uint32_t kind)
{
    static const char *const names[] = {
        [KW_EVENT_DEFINED] = "defined",     [KW_EVENT_UNDEFINED] = "undefined",
        [KW_EVENT_KERNEL] = "kernel",       [KW_EVENT_FALLBACK] = "fallback",
        [KW_EVENT_REPLACED] = "replaced",   [KW_EVENT_HIDDEN_COMPOSITE] = "hidden_composite",
        [KW_EVENT_AMBIGUOUS] = "ambiguous", [KW_EVENT_FORCED_CLEANUP] = "forced_cleanup",
        [KW_EVENT_BACKLOG] = "backlog",     [KW_EVENT_PLUGIN_RETAINED] = "plugin_retained",
    };
    const char *name = kind < sizeof names / sizeof names[0] ? names[kind] : NULL;
    return name != NULL ? name : "unknown";
}

static PyObject *event_new(const kw_event *event)
{
    return PyObject_CallFunction(kwpy.event, "sNKzzzKK", event_name(event->kind),
                                 kwpy_key_new(event->key), (unsigned long long)event->version,
                                 event->op, event->previous, event->current,
                                 (unsigned long long)event->previous_registration,
                                 (unsigned long long)event->current_registration);
}

static void tell(const kw_event *event, void *context)
{
    PyGILState_STATE state;
    if (!kwpy_enter(&state)) {
        return;
    }
    kwpy_callback *callback = context;
    PyObject *function = callback->first;
    Py_XINCREF(function);
    PyObject *object = function != NULL ? event_new(event) : NULL;
    PyObject *done = object != NULL ? PyObject_CallFunctionObjArgs(function, object, NULL) : NULL;
    if (done == NULL && PyErr_Occurred()) {
        kwpy_report(function);
    }
    Py_XDECREF(done);
    Py_XDECREF(object);
    Py_XDECREF(function);
    kwpy_leave(state);
}

static PyObject *listen_to(PyObject *self, PyObject *args)
{
    PyObject *function = NULL;
    int lint = 0;
    if (!PyArg_ParseTuple(args, "Op:listen", &function, &lint)) {
        return NULL;
    }
    kwpy_callback *callback = kwpy_callback_new(self, function, NULL);
    if (callback == NULL) {
        return NULL;
    }
    const kw_listener listener = {.struct_size = sizeof listener,
                                  .event = tell,
                                  .context = callback,
                                  .destroy = kwpy_callback_end,
                                  .wants_lint = lint != 0};
    uint64_t number = 0;
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_dispatcher_listen(((kwpy_dispatcher *)self)->dispatcher, &listener, &number, &err);
    Py_END_ALLOW_THREADS;
    if (status != KW_OK) {
        kwpy_callback_free(callback);
        return kwpy_raise(status, &err);
    }
    callback->number = number;
    return PyLong_FromUnsignedLongLong(number);
}

static PyObject *unlisten(PyObject *self, PyObject *args)
{
    unsigned long long number = 0;
    if (!PyArg_ParseTuple(args, "K:unlisten", &number)) {
        return NULL;
    }
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_dispatcher_unlisten(((kwpy_dispatcher *)self)->dispatcher, number);
    Py_END_ALLOW_THREADS;
    if (status != KW_OK) {
        return kwpy_raise(status, NULL);
    }
    Py_RETURN_NONE;
}

// Observers
// --------------------------------------------------------------------------------------------

static PyObject *values_new(const kw_value *values, uint32_t count)
{
    if (values == NULL) {
        Py_RETURN_NONE;
    }
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (uint32_t i = 0; tuple != NULL && i < count; i++) {
        kwpy_tuple_put(&tuple, (Py_ssize_t)i, kwpy_value_new(&values[i], NULL));
    }
    return tuple;
}

static PyObject *observation_new(const kw_observation *seen)
{
    return PyObject_CallFunction(kwpy.observation, "sNNNi", seen->name, kwpy_keyset_new(seen->keys),
                                 values_new(seen->args, seen->arg_count),
                                 values_new(seen->returns, seen->return_count), (int)seen->status);
}

// Calls one of the two functions. A new reference or NULL; what it raises is reported.
static PyObject *observe(PyObject *function, const kw_observation *seen, PyObject *word)
{
    Py_INCREF(function);
    PyObject *object = observation_new(seen);
    PyObject *result =
        object != NULL ? PyObject_CallFunctionObjArgs(function, object, word, NULL) : NULL;
    if (result == NULL) {
        kwpy_report(function);
    }
    Py_XDECREF(object);
    Py_DECREF(function);
    return result;
}

static void *observe_start(const kw_observation *seen, void *context)
{
    PyGILState_STATE state;
    if (!kwpy_enter(&state)) {
        return NULL;
    }
    kwpy_callback *callback = context;
    PyObject *word = callback->first != NULL ? observe(callback->first, seen, NULL) : NULL;
    kwpy_leave(state);
    return word;
}

static void observe_end(const kw_observation *seen, void *word, void *context)
{
    PyGILState_STATE state;
    if (!kwpy_enter(&state)) {
        return;
    }
    kwpy_callback *callback = context;
    PyObject *object = word != NULL ? word : Py_None;
    PyObject *done = callback->second != NULL ? observe(callback->second, seen, object) : NULL;
    Py_XDECREF(done);
    Py_XDECREF((PyObject *)word);
    kwpy_leave(state);
}

// Names as C wants them; the tuple keeps the texts.
#define NAMES_MAX 64

static bool names_from(PyObject *tuple, const char **out_names, size_t *out_count)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 0 || count > NAMES_MAX) {
        (void)PyErr_Format(PyExc_ValueError, "at most %d names", NAMES_MAX);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        out_names[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), NULL);
        if (out_names[i] == NULL) {
            return false;
        }
    }
    *out_count = (size_t)count;
    return true;
}

static PyObject *add_observer(PyObject *self, PyObject *args)
{
    PyObject *start = NULL;
    PyObject *end = NULL;
    PyObject *only = NULL;
    PyObject *except = NULL;
    double probability = 0;
    int inputs = 0;
    int outputs = 0;
    int this_thread = 0;
    const char *only_names[NAMES_MAX];
    const char *except_names[NAMES_MAX];
    kw_observer observer = {.struct_size = sizeof observer,
                            .start = observe_start,
                            .end = observe_end,
                            .destroy = kwpy_callback_end,
                            .only = only_names,
                            .except = except_names};
    if (!PyArg_ParseTuple(args, "OOO!O!dppp:observe", &start, &end, &PyTuple_Type, &only,
                          &PyTuple_Type, &except, &probability, &inputs, &outputs, &this_thread) ||
        !names_from(only, only_names, &observer.only_count) ||
        !names_from(except, except_names, &observer.except_count)) {
        return NULL;
    }
    kwpy_callback *callback =
        kwpy_callback_new(self, start != Py_None ? start : NULL, end != Py_None ? end : NULL);
    if (callback == NULL) {
        return NULL;
    }
    callback->is_observer = true;
    observer.context = callback;
    observer.probability = probability;
    observer.wants_inputs = inputs != 0;
    observer.wants_outputs = outputs != 0;
    observer.this_thread = this_thread != 0;
    uint64_t number = 0;
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_observer_add(((kwpy_dispatcher *)self)->dispatcher, &observer, &number, &err);
    Py_END_ALLOW_THREADS;
    if (status != KW_OK) {
        kwpy_callback_free(callback);
        return kwpy_raise(status, &err);
    }
    callback->number = number;
    return PyLong_FromUnsignedLongLong(number);
}

static PyObject *remove_observer(PyObject *self, PyObject *args)
{
    unsigned long long number = 0;
    if (!PyArg_ParseTuple(args, "K:remove", &number)) {
        return NULL;
    }
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_observer_remove(((kwpy_dispatcher *)self)->dispatcher, number, &err);
    Py_END_ALLOW_THREADS;
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    Py_RETURN_NONE;
}

PyMethodDef kwpy_listen_methods[] = {
    {"_listen", listen_to, METH_VARARGS, NULL},
    {"_unlisten", unlisten, METH_VARARGS, NULL},
    {"_observe", add_observer, METH_VARARGS, NULL},
    {"_unobserve", remove_observer, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
