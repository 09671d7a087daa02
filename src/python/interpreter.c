// CPython as an interpreter of the library: its life, and the hooks that need no Python code.
//
// Layer:   python (public headers only)
// Threads: hooks are called from any thread, and take the GIL themselves.
// SPDX-License-Identifier: MIT

#include "python/interpreter.h"

#include <keyway/call.h>

#include "python/dispatch.h"
#include "python/error.h"
#include "python/gate.h"
#include "python/module.h"
#include "python/subclass.h"

// guard: immutable. Set while the module is imported; never freed.
static kw_interpreter *python;

static void retain(void *object, void *context)
{
    PyGILState_STATE state;
    (void)context;
    if (kwpy_enter(&state)) {
        Py_INCREF((PyObject *)object);
        kwpy_leave(state);
    }
}

static void release(void *object, bool is_tensors, void *context)
{
    PyGILState_STATE state;
    (void)context;
    if (!kwpy_enter(&state)) {
        return;
    }
    if (is_tensors) {
        kwpy_identity_forget((PyObject *)object);
    }
    Py_DECREF((PyObject *)object);
    kwpy_leave(state);
}

static void report_error(const kw_error *why, void *context)
{
    PyGILState_STATE state;
    (void)context;
    if (kwpy_enter(&state)) {
        (void)kwpy_raise(why->status, why);
        kwpy_report(NULL);
        kwpy_leave(state);
    }
}

static kw_status dispatch(const kw_interpreter_call *call, void *context)
{
    PyGILState_STATE state;
    (void)context;
    if (!kwpy_enter(&state)) {
        return kw_fail(KW_INTERPRETER_GONE, "Python has ended");
    }
    kw_status status = kwpy_dispatch(call);
    kwpy_leave(state);
    return status;
}

static kw_status python_dispatcher(const kw_interpreter_call *call, void *context)
{
    PyGILState_STATE state;
    (void)context;
    if (!kwpy_enter(&state)) {
        return kw_fail(KW_INTERPRETER_GONE, "Python has ended");
    }
    kw_status status = kwpy_dispatch_resolve(call);
    kwpy_leave(state);
    return status;
}

static const kw_interpreter_table table = {
    .struct_size = sizeof table,
    .name = "Python",
    .retain = retain,
    .release = release,
    .dispatch = dispatch,
    .python_dispatcher = python_dispatcher,
    .report_error = report_error,
};

kw_interpreter *kwpy_interpreter(void)
{
    return python;
}

// Called by atexit, and by CPython itself at its very end, for those who have emptied atexit's
// list. Does not wait: who is inside has passed the gate, whose end does.
static void disarm(void)
{
    kw_status status = kw_interpreter_disarm(python, 0, NULL);
    (void)status; // KW_BUSY: somebody is inside; KW_WOULD_WAIT_FOR_SELF: this is a handler's exit()
}

static PyObject *end(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS;
    disarm();
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"_disarm", end, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

bool kwpy_interpreter_add(PyObject *module)
{
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_interpreter_create(&table, &python, &err);
    if (status != KW_OK) {
        return kwpy_raise(status, &err) != NULL;
    }
    (void)Py_AtExit(disarm); // no place in its list: atexit has it
    return kwpy_functions_add(module, functions);
}
