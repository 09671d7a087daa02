// Kernels that are Python functions.
//
// Layer:   python (public headers only)
// Threads: any: a kernel takes the GIL.
// SPDX-License-Identifier: MIT
//
// Note [Who holds a Python kernel]
//
// A record holds the function; the registry holds the record, and ends it when no call can run it
// any more, on whatever thread. The Library that registered it has it in a list, so that the
// garbage collector can count the reference as the Library's: a function that refers to its own
// Library is then a cycle that can be seen. Such a Library is closed by its finaliser, before
// anything of the cycle is taken apart; records that a call still holds are taken off the list,
// and what they hold is alive.

#ifndef KWI_PYTHON_KERNEL_H
#define KWI_PYTHON_KERNEL_H

#include <stdbool.h>

#include <keyway/kernel.h>

#include "python/python.h"

typedef struct kwpy_kernel {
    // guard: the GIL.
    struct kwpy_kernel *next;
    struct kwpy_kernel **link;       // what points to this one; NULL: it is on no list
    struct kwpy_kernel *staged_next; // of its transaction, until that is committed
    PyObject *function;
    PyObject *dispatcher; // a Dispatcher
    PyObject *op;         // the Operator of the last call; NULL: none yet
    bool with_keyset;
    bool with_op;
} kwpy_kernel;

// What a registration says of a function.
typedef struct kwpy_kernel_options {
    PyObject *function; // or the object `fallthrough`
    PyObject *dispatcher;
    const char *schema;
    int priority;
    unsigned duplicates;
    bool with_keyset;
    bool with_op;
} kwpy_kernel_options;

// Describes a kernel for its registration, and puts its record on a list; `out_kernel` gets NULL
// for a fallthrough. The texts live as long as `out_texts`, a new reference. False with an
// exception.
bool kwpy_kernel_describe(const kwpy_kernel_options *options, kwpy_kernel **list,
                          kwpy_kernel **out_kernel, kw_kernel_descriptor *out_descriptor,
                          PyObject **out_texts);

// Frees a record that was not registered. NULL is allowed.
void kwpy_kernel_discard(kwpy_kernel *take_kernel);

// For the owner of the list: what its records hold, and giving up those that are left.
int kwpy_kernels_traverse(kwpy_kernel *list, visitproc visit, void *arg);
void kwpy_kernels_orphan(kwpy_kernel **list);

// How many records there are in the process.
Py_ssize_t kwpy_kernel_count(void);

#endif // KWI_PYTHON_KERNEL_H
