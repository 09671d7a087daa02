// Modes of a thread, and the resolver of a thread that has the PythonDispatcher on.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; both are the thread's own.
// SPDX-License-Identifier: MIT

#include "python/mode.h"

#include <keyway/interpreter.h>

#include "python/error.h"
#include "python/interpreter.h"
#include "python/module.h"

static PyObject *push(PyObject *module, PyObject *mode)
{
    kw_error err = KW_ERROR_INIT;
    (void)module;
    kw_status status = kw_mode_push(kwpy_interpreter(), mode, &err);
    return status == KW_OK ? Py_NewRef(Py_None) : kwpy_raise(status, &err);
}

// Pops a mode that must be on top: blocks end in the reverse order.
static PyObject *pop(PyObject *module, PyObject *mode)
{
    kw_error err = KW_ERROR_INIT;
    kw_mode top;
    (void)module;
    if (!kw_mode_top(&top) || top.interpreter != kwpy_interpreter() || top.object != mode) {
        return kwpy_raise_text(KW_WRONG_ORDER, "the mode is not the top one of this thread");
    }
    kw_status status = kw_mode_pop(NULL, &err);
    return status == KW_OK ? Py_NewRef(Py_None) : kwpy_raise(status, &err);
}

static PyObject *modes(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    bool done = list != NULL;
    kw_mode mode;
    (void)module;
    (void)unused;
    for (uint32_t i = 0; done && kw_mode_at(i, &mode); i++) {
        done = mode.interpreter != kwpy_interpreter() || PyList_Append(list, mode.object) == 0;
    }
    if (!done) {
        Py_CLEAR(list);
    }
    return list;
}

// The resolver
// ----------------------------------------------------------------------------------------

// A stretch of a thread's time with the PythonDispatcher on. Lives in a capsule that the package's
// Python half keeps from enable() to restore().
typedef struct stretch {
    kw_interpreter_guard guard;
    PyObject *resolver; // one reference
    struct stretch *outer;
} stretch;

// The innermost stretch of the thread.
static _Thread_local stretch *current;

#define STRETCH "keyway.python_dispatcher"

PyObject *kwpy_resolver(void)
{
    // A pool thread that was given the state of another one has none of its own.
    return current != NULL ? current->resolver : kwpy.resolve;
}

static PyObject *enable(PyObject *module, PyObject *resolver)
{
    stretch *made = PyMem_Calloc(1, sizeof *made);
    (void)module;
    if (made == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *capsule = PyCapsule_New(made, STRETCH, NULL);
    kw_status status = capsule != NULL
                           ? kw_python_dispatcher_enable(kwpy_interpreter(), &made->guard)
                           : KW_NO_MEMORY;
    if (status != KW_OK) {
        PyMem_Free(made);
        Py_XDECREF(capsule);
        return capsule != NULL ? kwpy_raise(status, NULL) : NULL;
    }
    made->resolver = Py_NewRef(resolver);
    made->outer = current;
    current = made;
    return capsule;
}

static PyObject *restore(PyObject *module, PyObject *capsule)
{
    stretch *ending = PyCapsule_GetPointer(capsule, STRETCH);
    (void)module;
    if (ending == NULL) {
        return NULL;
    }
    if (ending != current) {
        return kwpy_raise_text(KW_WRONG_ORDER,
                               "another block of python_dispatcher() is inside this one");
    }
    current = ending->outer;
    kw_interpreter_restore(&ending->guard);
    Py_DECREF(ending->resolver);
    PyMem_Free(ending);
    (void)PyCapsule_SetPointer(capsule, &current); // not NULL; nobody uses it any more
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"_mode_push", push, METH_O, NULL},
    {"_mode_pop", pop, METH_O, NULL},
    {"current_modes", modes, METH_NOARGS,
     "current_modes()\n--\n\nThe modes of the thread, the top one last."},
    {"_python_dispatcher_enable", enable, METH_O, NULL},
    {"_python_dispatcher_restore", restore, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

bool kwpy_mode_add(PyObject *module)
{
    return kwpy_functions_add(module, functions);
}
