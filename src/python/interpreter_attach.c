// The dispatchers whose operators Python may take over.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; given up while the library may wait.
// SPDX-License-Identifier: MIT

#include <stdlib.h>

#include "python/dispatcher.h"
#include "python/error.h"
#include "python/interpreter.h"
#include "python/leaving.h"

// One Dispatcher. It detaches itself before it ends.
typedef struct attachment {
    struct attachment *next;
    PyObject *dispatcher; // borrowed
    kw_library *library;
} attachment;

// guard: thread, the one that holds the GIL.
static attachment *attachments;

// Where the link to a Dispatcher's attachment is; to NULL if it has none.
static attachment **find(PyObject *dispatcher)
{
    attachment **link = &attachments;
    while (*link != NULL && (*link)->dispatcher != dispatcher) {
        link = &(*link)->next;
    }
    return link;
}

bool kwpy_attach(PyObject *dispatcher)
{
    kw_error err = KW_ERROR_INIT;
    kw_dispatcher *target = kwpy_dispatcher_of(dispatcher);
    if (target == NULL || *find(dispatcher) != NULL) {
        return target != NULL;
    }
    attachment *made = malloc(sizeof *made);
    if (made == NULL) {
        return PyErr_NoMemory() != NULL;
    }
    kw_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_interpreter_fallbacks(target, NULL, &made->library, &err);
    Py_END_ALLOW_THREADS;
    if (status != KW_OK) {
        free(made);
        return kwpy_raise(status, &err) != NULL;
    }
    made->dispatcher = dispatcher;
    made->next = attachments;
    attachments = made;
    return true;
}

void kwpy_detach(PyObject *dispatcher)
{
    attachment **link = find(dispatcher), *ending = *link;
    if (ending == NULL) {
        return;
    }
    *link = ending->next;
    // When Python has ended, threads that go on calling get to hear that, not that a kernel lacks.
    if (kw_interpreter_is_armed(kwpy_interpreter())) {
        kwpy_leaving_put_library(ending->library, NULL);
    }
    free(ending);
}

// Whether the operator is one of this dispatcher's, which an operator cannot be asked; -1 with an
// exception. Those that have an Operator are known even when the definition is gone.
static int has_operator(PyObject *dispatcher, const kw_operator *op, PyObject *address)
{
    const kw_operator *found = NULL;
    const kwpy_dispatcher *here = (kwpy_dispatcher *)dispatcher;
    int is_known = PyDict_Contains(here->operators, address);
    if (is_known != 0) {
        return is_known;
    }
    return kw_operator_find(here->dispatcher, kw_operator_name(op), &found, NULL) == KW_OK &&
           found == op;
}

PyObject *kwpy_attached_operator(const kw_operator *op)
{
    PyObject *address = PyLong_FromVoidPtr((void *)(uintptr_t)op);
    int has = 0;
    attachment *here = attachments;
    while (address != NULL && here != NULL) {
        has = has_operator(here->dispatcher, op, address);
        if (has != 0) {
            break;
        }
        here = here->next;
    }
    Py_XDECREF(address);
    if (has > 0) {
        return kwpy_dispatcher_operator(here->dispatcher, op);
    }
    return PyErr_Occurred() ? NULL
                            : kwpy_raise_text(KW_NOT_FOUND,
                                              "operator `%s` is none of a dispatcher that Python "
                                              "knows",
                                              kw_operator_name(op));
}
