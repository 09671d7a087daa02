// The gate: how C code enters Python from any thread, and how Python's end closes it.
//
// Layer:   python (public headers only)
// Threads: any.
// SPDX-License-Identifier: MIT

#include "python/gate.h"

#include <time.h>

#include <keyway/inline/cell.h>

#include "python/leaving.h"
#include "python/module.h"

// How many are inside, and whether the gate is closed: one word, so that an entry either is
// counted before the gate closes or sees it closed.
#define CLOSED (UINT64_C(1) << 63)

// guard: cell. Up: acquire. Down: release, and its end reads acquire. [pair: python-gate]
static kwi_u64_cell gate;

// Longest wait for those inside, in looks of one millisecond each: a daemon thread may stay in a
// kernel for ever, and Python has always let those die.
#define LOOKS 10000

bool kwpy_enter(PyGILState_STATE *out_state)
{
    uint64_t inside = kwi_u64_load_relaxed(&gate); // relaxed: the exchange looks again
    do {
        if ((inside & CLOSED) != 0) {
            return false;
        }
        // Acquire, though nothing is read: the closing end reads acquire. [pair: python-gate]
    } while (!kwi_u64_compare_exchange_acquire_relaxed(&gate, &inside, inside + 1));
    *out_state = PyGILState_Ensure();
    return true;
}

void kwpy_leave(PyGILState_STATE state)
{
    PyGILState_Release(state);
    (void)kwi_u64_sub_release(&gate, 1); // [pair: python-gate]
}

bool kwpy_gate_is_closed(void)
{
    return (kwi_u64_load_relaxed(&gate) & CLOSED) != 0; // relaxed: nothing is read after it
}

void kwpy_drop(PyObject *object)
{
    PyGILState_STATE state;
    if (object != NULL && kwpy_enter(&state)) {
        Py_DECREF(object);
        kwpy_leave(state);
    }
}

static void close_gate(void)
{
    uint64_t inside = kwi_u64_load_relaxed(&gate); // relaxed: the exchange looks again
    bool done = false;
    while (!done) {
        // [pair: python-gate]
        done = kwi_u64_compare_exchange_acquire_relaxed(&gate, &inside, inside | CLOSED);
    }
    const struct timespec pause = {.tv_nsec = 1000000};
    // What those inside did comes before the end of Python. [pair: python-gate]
    for (int i = 0; i < LOOKS && kwi_u64_load_acquire(&gate) != CLOSED; i++) {
        (void)nanosleep(&pause, NULL);
    }
}

// Called by atexit, before anything of Python is gone.
static PyObject *end(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    kwpy_leaving_end();
    Py_BEGIN_ALLOW_THREADS;
    close_gate();
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"_end", end, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

bool kwpy_gate_add(PyObject *module)
{
    return kwpy_functions_add(module, functions);
}
