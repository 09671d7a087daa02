// Errors: statuses as exceptions, and exceptions as the failures of kernels.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include "python/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <keyway/call.h>

#include "python/module.h"

// The key of an exception in the thread's dict, which ends with the thread.
#define PENDING "keyway.pending"

// Whether the thread's dict may have one: a look that costs nothing.
static _Thread_local bool has_pending;

PyObject *kwpy_raise_text(kw_status status, const char *format, ...)
{
    kw_error err = KW_ERROR_INIT;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(err.text, sizeof err.text, format, arguments);
    va_end(arguments);
    return kwpy_raise(status, &err);
}

PyObject *kwpy_raise(kw_status status, const kw_error *err)
{
    const char *text = err != NULL && err->text[0] != 0 ? err->text : kw_status_message(status);
    PyObject *position = Py_None;
    Py_INCREF(position);
    if (err != NULL && err->position != KW_NO_POSITION) {
        Py_DECREF(position);
        position = PyLong_FromUnsignedLong(err->position);
    }
    // Texts are cut at a byte, perhaps inside a character.
    PyObject *sentence = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *error = NULL;
    if (sentence != NULL && position != NULL) {
        error = PyObject_CallFunction(kwpy.make_error, "iOO", (int)status, sentence, position);
    }
    Py_XDECREF(sentence);
    Py_XDECREF(position);
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

void kwpy_forget(void)
{
    if (!has_pending) {
        return;
    }
    has_pending = false;
    PyObject *dict = PyThreadState_GetDict();
    if (dict != NULL && PyDict_GetItemString(dict, PENDING) != NULL) {
        (void)PyDict_DelItemString(dict, PENDING);
    }
}

// Takes the pair (exception, sentence) out of the thread's dict; NULL if there is none.
static PyObject *take_pending(void)
{
    if (!has_pending) {
        return NULL;
    }
    PyObject *dict = PyThreadState_GetDict();
    PyObject *pair = dict != NULL ? PyDict_GetItemString(dict, PENDING) : NULL;
    Py_XINCREF(pair);
    kwpy_forget();
    return pair;
}

// Raises the exception of a pair if the text is its own; adds what follows, the operators.
static bool raise_pending(PyObject *pair, const char *text)
{
    const char *sentence = PyBytes_AsString(PyTuple_GetItem(pair, 1));
    size_t length = strlen(sentence);
    if (strncmp(text, sentence, length) != 0) {
        return false;
    }
    PyObject *exception = PyTuple_GetItem(pair, 0);
    const char *chain = text + length;
    chain += strncmp(chain, "; ", 2) == 0 ? 2 : 0;
    PyObject *done = PyObject_CallMethod(exception, "add_note", "s", chain);
    if (done == NULL) {
        PyErr_Clear(); // whoever made such an exception wants no notes
    }
    Py_XDECREF(done);
    Py_INCREF((PyObject *)Py_TYPE(exception));
    Py_INCREF(exception);
    PyErr_Restore((PyObject *)Py_TYPE(exception), exception, PyException_GetTraceback(exception));
    return true;
}

PyObject *kwpy_raise_call(kw_status status)
{
    kw_error err = KW_ERROR_INIT;
    (void)snprintf(err.text, sizeof err.text, "%s", kw_call_error());
    PyObject *pair = take_pending();
    bool done = pair != NULL && raise_pending(pair, err.text);
    Py_XDECREF(pair);
    return done ? NULL : kwpy_raise(status, &err);
}

// The status that C callers get for an exception.
static kw_status status_of(PyObject *exception)
{
    kw_status status = KW_KERNEL_FAILED;
    if (PyErr_GivenExceptionMatches(exception, PyExc_MemoryError)) {
        status = KW_NO_MEMORY;
    }
    if (kwpy.error == NULL || PyObject_IsInstance(exception, kwpy.error) != 1) {
        PyErr_Clear();
        return status;
    }
    PyObject *number = PyObject_GetAttrString(exception, "status");
    long value = number != NULL ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    PyErr_Clear();
    return value > KW_OK && value <= INT32_MAX ? (kw_status)value : status;
}

// "ValueError: what it says", as bytes for C. NULL: there is no memory for it.
static PyObject *sentence_of(PyObject *exception)
{
    PyObject *name = PyType_GetName(Py_TYPE(exception));
    PyObject *text = name != NULL ? PyObject_Str(exception) : NULL;
    if (name != NULL && text == NULL) {
        PyErr_Clear();
        text = PyUnicode_FromString("");
    }
    PyObject *sentence = NULL;
    if (text != NULL) {
        // Not more than the text of a failure has room for: the chain of operators follows.
        const char *format = PyUnicode_GetLength(text) > 0 ? "%U: %.200U" : "%U";
        sentence = PyUnicode_FromFormat(format, name, text);
    }
    PyObject *bytes =
        sentence != NULL ? PyUnicode_AsEncodedString(sentence, "utf-8", "backslashreplace") : NULL;
    Py_XDECREF(name);
    Py_XDECREF(text);
    Py_XDECREF(sentence);
    PyErr_Clear();
    return bytes;
}

// Keeps an exception with the thread. Without memory only the sentence stays.
static void keep(PyObject *exception, PyObject *sentence)
{
    PyObject *dict = PyThreadState_GetDict();
    PyObject *pair = dict != NULL ? PyTuple_Pack(2, exception, sentence) : NULL;
    if (pair == NULL || PyDict_SetItemString(dict, PENDING, pair) != 0) {
        PyErr_Clear();
    } else {
        has_pending = true;
    }
    Py_XDECREF(pair);
}

kw_status kwpy_fail(void)
{
    PyObject *type = NULL;
    PyObject *exception = NULL;
    PyObject *traceback = NULL;
    PyErr_Fetch(&type, &exception, &traceback);
    PyErr_NormalizeException(&type, &exception, &traceback);
    if (exception == NULL) {
        Py_XDECREF(type);
        Py_XDECREF(traceback);
        return kw_fail(KW_INTERNAL, "a Python function failed without an exception");
    }
    if (traceback != NULL) {
        (void)PyException_SetTraceback(exception, traceback);
    }
    kw_status status = status_of(exception);
    PyObject *sentence = sentence_of(exception);
    if (sentence != NULL) {
        keep(exception, sentence);
    }
    (void)kw_fail(status, "%s",
                  sentence != NULL ? PyBytes_AsString(sentence) : "a Python exception");
    Py_XDECREF(sentence);
    Py_XDECREF(type);
    Py_DECREF(exception);
    Py_XDECREF(traceback);
    return status;
}

void kwpy_report(PyObject *where)
{
    PyErr_WriteUnraisable(where);
}
