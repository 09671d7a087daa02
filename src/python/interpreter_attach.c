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
    kw_library *library;  // NULL: somebody else's serves, or this one is being made
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

static void take_off(attachment *ending)
{
    attachment **link = find(ending->dispatcher);
    *link = ending->next;
    free(ending);
}

bool kwpy_attach(PyObject *dispatcher)
{
    kw_error err = KW_ERROR_INIT;
    kw_dispatcher *target = ((kwpy_dispatcher *)dispatcher)->dispatcher;
    if (*find(dispatcher) != NULL) {
        return true;
    }
    attachment *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return PyErr_NoMemory() != NULL;
    }
    // Before the GIL is given up: of two threads that come here the second finds it.
    *made = (attachment){.next = attachments, .dispatcher = dispatcher};
    attachments = made;
    kw_library *library = NULL;
    kw_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_interpreter_fallbacks(target, NULL, &library, &err);
    Py_END_ALLOW_THREADS;
    made->library = library;
    if (status != KW_OK && status != KW_DUPLICATE_FALLBACK) {
        take_off(made);
        return kwpy_raise(status, &err) != NULL;
    }
    return true;
}

void kwpy_detach(PyObject *dispatcher)
{
    attachment *ending = *find(dispatcher);
    if (ending == NULL) {
        return;
    }
    kw_library *library = ending->library;
    take_off(ending);
    // When Python has ended, threads that go on calling get to hear that, not that a kernel lacks.
    if (library != NULL && !((kwpy_dispatcher *)dispatcher)->is_default &&
        kw_interpreter_is_armed(kwpy_interpreter())) {
        kwpy_leaving_put_library(library, NULL);
    }
}

// Whether the operator is one of this dispatcher's, which an operator cannot be asked; -1 with an
// exception. Those that have an Operator are known even when the definition is gone.
static int has_operator(PyObject *dispatcher, const kw_operator *op, PyObject *address)
{
    const kw_operator *found = NULL;
    const kwpy_dispatcher *here = (kwpy_dispatcher *)dispatcher;
    // The garbage collector has taken a Dispatcher apart that is about to end.
    int is_known = here->operators != NULL ? PyDict_Contains(here->operators, address) : 0;
    if (is_known != 0) {
        return is_known;
    }
    return here->operators != NULL &&
           kw_operator_find(here->dispatcher, kw_operator_name(op), &found, NULL) == KW_OK &&
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
