// Operators that Python takes over: handlers of modes and of classes, and the resolver.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include "python/dispatch.h"

#include "python/bind.h"
#include "python/dispatch_args.h"
#include "python/error.h"
#include "python/interpreter.h"
#include "python/key.h"
#include "python/mode.h"
#include "python/module.h"

// Asks a mode or a class; NULL with an exception.
static PyObject *ask(PyObject *handler, const kwpy_handling *handling)
{
    return PyObject_CallMethod(handler, "__kw_dispatch__", "OOOO", handling->op, handling->types,
                               handling->args, handling->kwargs);
}

// Asks the classes until one answers; NotImplemented if none does.
static PyObject *ask_classes(const kwpy_handling *handling)
{
    PyObject *answer = Py_NewRef(Py_NotImplemented);
    const Py_ssize_t count = PyTuple_Size(handling->types);
    for (Py_ssize_t i = 0; answer == Py_NotImplemented && i < count; i++) {
        Py_DECREF(answer);
        answer = ask(PyTuple_GetItem(handling->types, i), handling);
    }
    return answer;
}

// After a mode has not answered: it is on again, for what the classes' handlers call.
static PyObject *ask_classes_under(PyObject *mode, const kwpy_handling *handling)
{
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_mode_push(kwpy_interpreter(), mode, &err);
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    PyObject *answer = ask_classes(handling);
    status = kw_mode_pop(NULL, &err);
    if (status != KW_OK) {
        Py_CLEAR(answer);
        (void)kwpy_raise(status, &err);
    }
    return answer;
}

static PyObject *ask_all(PyObject *mode, const kwpy_handling *handling)
{
    if (mode == NULL) {
        return ask_classes(handling);
    }
    PyObject *answer = ask(mode, handling);
    if (answer == Py_NotImplemented && PyTuple_Size(handling->types) > 0) {
        Py_DECREF(answer);
        answer = ask_classes_under(mode, handling);
    }
    return answer;
}

static PyObject *refuse(PyObject *mode, const kwpy_handling *handling, const char *op)
{
    if (mode == NULL && PyTuple_Size(handling->types) == 0) {
        return PyErr_Format(
            PyExc_TypeError,
            "%s: a tensor with the key Python has no object of a class with "
            "__kw_dispatch__ any more; a class with __del__ calls super().__del__()",
            op);
    }
    if (mode == NULL) {
        return PyErr_Format(PyExc_TypeError, "%s: all of %R have answered NotImplemented", op,
                            handling->types);
    }
    return PyErr_Format(PyExc_TypeError,
                        "%s: the mode %R and all of %R have answered NotImplemented", op, mode,
                        handling->types);
}

// Sets the call's returns to what a handler gave, whose reference it takes.
static kw_status give(const kw_interpreter_call *call, const kwpy_handling *handling,
                      PyObject *take_answer)
{
    bool done = take_answer != NULL && kwpy_set_returns(kw_operator_name(call->op),
                                                        handling->schema, call->frame, take_answer);
    Py_XDECREF(take_answer);
    return done ? KW_OK : kwpy_fail();
}

kw_status kwpy_dispatch(const kw_interpreter_call *call)
{
    kwpy_handling handling;
    PyObject *mode = call->tensor == NULL ? call->object : NULL;
    if (!kwpy_handling_init(&handling, call)) {
        return kwpy_fail();
    }
    PyObject *answer = ask_all(mode, &handling);
    if (answer == Py_NotImplemented) {
        Py_DECREF(answer);
        answer = refuse(mode, &handling, kw_operator_name(call->op));
    }
    kw_status status = give(call, &handling, answer);
    kwpy_handling_fini(&handling);
    return status;
}

kw_status kwpy_dispatch_resolve(const kw_interpreter_call *call)
{
    kwpy_handling handling;
    PyObject *keys = kwpy_keyset_new(call->keys);
    if (keys == NULL || !kwpy_handling_init(&handling, call)) {
        Py_XDECREF(keys);
        return kwpy_fail();
    }
    PyObject *answer = PyObject_CallFunctionObjArgs(kwpy_resolver(), handling.op, keys,
                                                    handling.args, handling.kwargs, NULL);
    Py_DECREF(keys);
    kw_status status = give(call, &handling, answer);
    kwpy_handling_fini(&handling);
    return status;
}
