// Collecting: rows and texts that library functions hand out one by one, without the GIL held while
// they may wait.
//
// Layer:   python (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_COLLECT_H
#define KWI_PYTHON_COLLECT_H

#include <stdbool.h>
#include <stddef.h>

#include <keyway/status.h>

#include "python/python.h"

// A list that grows by callbacks, each of which takes the GIL back for itself.
typedef struct kwpy_collection {
    PyThreadState *state;
    PyObject *list; // NULL after a failure, which is an exception
} kwpy_collection;

// Begins: gives the GIL up. False with an exception, and it is held.
bool kwpy_collection_begin(kwpy_collection *collection);

// In a callback: around making one item. Resume is false after a failure.
bool kwpy_collection_resume(kwpy_collection *collection);
void kwpy_collection_add(kwpy_collection *collection, PyObject *take_item); // NULL: it failed

// Ends: takes the GIL. The list, a new reference; NULL with an exception.
PyObject *kwpy_collection_end(kwpy_collection *collection, kw_status status, const kw_error *err);

// A text that grows, in memory of C. `write` has the type of kw_write_function.
typedef struct kwpy_writing {
    char *text;
    size_t length;
    size_t room;
    bool failed;
} kwpy_writing;

void kwpy_writing_write(const char *text, size_t length, void *writing);

// Makes the text an object and frees it. NULL with an exception.
PyObject *kwpy_writing_end(kwpy_writing *writing);

#endif // KWI_PYTHON_COLLECT_H
