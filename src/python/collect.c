// Collecting: rows and texts that library functions hand out one by one, without the GIL held while
// they may wait.
//
// Layer:   python (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "python/collect.h"

#include <stdlib.h>
#include <string.h>

#include "python/error.h"

bool kwpy_collection_begin(kwpy_collection *collection)
{
    collection->list = PyList_New(0);
    if (collection->list == NULL) {
        return false;
    }
    collection->state = PyEval_SaveThread();
    return true;
}

bool kwpy_collection_resume(kwpy_collection *collection)
{
    if (collection->list == NULL) {
        return false;
    }
    PyEval_RestoreThread(collection->state);
    return true;
}

void kwpy_collection_add(kwpy_collection *collection, PyObject *take_item)
{
    if (take_item == NULL || PyList_Append(collection->list, take_item) != 0) {
        Py_CLEAR(collection->list);
    }
    Py_XDECREF(take_item);
    collection->state = PyEval_SaveThread();
}

PyObject *kwpy_collection_end(kwpy_collection *collection, kw_status status, const kw_error *err)
{
    PyEval_RestoreThread(collection->state);
    if (collection->list != NULL && status != KW_OK) {
        Py_CLEAR(collection->list);
        return kwpy_raise(status, err);
    }
    return collection->list;
}

void kwpy_writing_write(const char *text, size_t length, void *context)
{
    kwpy_writing *writing = context;
    if (writing->failed) {
        return;
    }
    if (writing->length + length + 1 > writing->room) {
        size_t room = 2 * (writing->length + length + 1);
        char *grown = realloc(writing->text, room);
        if (grown == NULL) {
            writing->failed = true;
            return;
        }
        writing->text = grown;
        writing->room = room;
    }
    memcpy(writing->text + writing->length, text, length);
    writing->length += length;
}

PyObject *kwpy_writing_end(kwpy_writing *writing)
{
    PyObject *object = NULL;
    if (writing->failed) {
        object = PyErr_NoMemory();
    } else {
        object = PyUnicode_DecodeUTF8(writing->text != NULL ? writing->text : "",
                                      (Py_ssize_t)writing->length, "replace");
    }
    free(writing->text);
    return object;
}
