// Kernels that are Python functions.
//
// Layer:   python (public headers only)
// Threads: any: a kernel takes the GIL.
// SPDX-License-Identifier: MIT

#include "python/kernel.h"

#include <stdlib.h>

#include <keyway/call.h>
#include <keyway/tensor.h>

#include "python/bind.h"
#include "python/dispatcher.h"
#include "python/error.h"
#include "python/gate.h"
#include "python/key.h"
#include "python/module.h"
#include "python/operator.h"

static Py_ssize_t kernel_count; // guard: the GIL

Py_ssize_t kwpy_kernel_count(void)
{
    return kernel_count;
}

// Lists
// --------------------------------------------------------------------------------------------

static void put_on(kwpy_kernel **list, kwpy_kernel *kernel)
{
    kernel->next = *list;
    kernel->link = list;
    if (kernel->next != NULL) {
        kernel->next->link = &kernel->next;
    }
    *list = kernel;
}

static void take_off(kwpy_kernel *kernel)
{
    if (kernel->link != NULL) {
        *kernel->link = kernel->next;
        if (kernel->next != NULL) {
            kernel->next->link = kernel->link;
        }
        kernel->link = NULL;
    }
}

int kwpy_kernels_traverse(kwpy_kernel *list, visitproc visit, void *arg)
{
    for (kwpy_kernel *kernel = list; kernel != NULL; kernel = kernel->next) {
        Py_VISIT(kernel->function);
        Py_VISIT(kernel->dispatcher);
        Py_VISIT(kernel->op);
    }
    return 0;
}

void kwpy_kernels_orphan(kwpy_kernel **list)
{
    while (*list != NULL) {
        take_off(*list);
    }
}

void kwpy_kernel_discard(kwpy_kernel *take_kernel)
{
    if (take_kernel == NULL) {
        return;
    }
    take_off(take_kernel);
    kernel_count--;
    Py_XDECREF(take_kernel->function);
    Py_XDECREF(take_kernel->dispatcher);
    Py_XDECREF(take_kernel->op);
    free(take_kernel);
}

// No call can run it any more. After Python's end the record stays: so does what it holds.
static void destroy(void *user_data)
{
    PyGILState_STATE state;
    if (kwpy_enter(&state)) {
        PyObject *type = NULL;
        PyObject *value = NULL;
        PyObject *traceback = NULL;
        PyErr_Fetch(&type, &value, &traceback);
        kwpy_kernel_discard(user_data);
        PyErr_Restore(type, value, traceback);
        kwpy_leave(state);
    }
}

// Running
// --------------------------------------------------------------------------------------------

// The Operator that the kernel runs for; borrowed from the record. NULL with an exception.
static kwpy_operator *operator_for(kwpy_kernel *kernel, const kw_operator *op)
{
    kwpy_operator *last = (kwpy_operator *)kernel->op;
    if (last != NULL && last->op == op) {
        return last;
    }
    PyObject *found = kwpy_dispatcher_operator(kernel->dispatcher, op);
    if (found != NULL) {
        PyObject *previous = kernel->op;
        kernel->op = found;
        Py_XDECREF(previous);
    }
    return (kwpy_operator *)found;
}

// Puts an object into a new tuple of arguments.
static bool put_argument(PyObject *args, Py_ssize_t *index, PyObject *take_object)
{
    return take_object != NULL && PyTuple_SetItem(args, (*index)++, take_object) == 0;
}

static PyObject *call_function(const kwpy_kernel *kernel, PyObject *op, const kwpy_schema *schema,
                               kw_keyset keys, const kw_frame *frame)
{
    PyObject *args = NULL;
    PyObject *kwargs = NULL;
    Py_ssize_t extra = (kernel->with_keyset ? 1 : 0) + (kernel->with_op ? 1 : 0);
    if (!kwpy_unbind(schema, frame, extra, &args, &kwargs)) {
        return NULL;
    }
    bool ready = true;
    Py_ssize_t index = 0;
    if (kernel->with_keyset) {
        ready = put_argument(args, &index, kwpy_keyset_new(keys));
    }
    if (ready && kernel->with_op) {
        Py_INCREF(op);
        ready = put_argument(args, &index, op);
    }
    // The record may lose its function while it runs: the call holds it.
    PyObject *function = kernel->function;
    Py_INCREF(function);
    PyObject *result = ready ? PyObject_Call(function, args, kwargs) : NULL;
    Py_DECREF(function);
    Py_DECREF(args);
    Py_XDECREF(kwargs);
    return result;
}

static kw_status run_held(kwpy_kernel *kernel, const kw_operator *op, kw_keyset keys,
                          kw_frame *frame)
{
    PyObject *operator=(PyObject *) operator_for(kernel, op);
    Py_XINCREF(operator);
    kwpy_schema *schema = operator!= NULL && kwpy_operator_is_ours((kwpy_operator *)operator)
                              ? kwpy_operator_schema((kwpy_operator *)operator)
                              : NULL;
    PyObject *result = schema != NULL ? call_function(kernel, operator, schema, keys, frame) : NULL;
    bool done = result != NULL && kwpy_set_returns(kw_operator_name(op), schema, frame, result);
    kw_status status = done ? KW_OK : kwpy_fail();
    Py_XDECREF(result);
    Py_XDECREF((PyObject *)schema);
    Py_XDECREF(operator);
    return status;
}

static kw_status run(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    PyGILState_STATE state;
    if (!kwpy_enter(&state)) {
        return kw_fail(KW_KERNEL_FAILED, "the kernel is a Python function, and Python has ended");
    }
    kw_status status = run_held(self->user_data, op, keys, frame);
    kwpy_leave(state);
    return status;
}

// Describing
// --------------------------------------------------------------------------------------------

// (name, file, line) of a function, as far as it says. The texts are kept by the tuple.
static PyObject *texts_of(PyObject *function)
{
    PyObject *name = PyObject_GetAttrString(function, "__qualname__");
    if (name == NULL || !PyUnicode_Check(name)) {
        PyErr_Clear();
        Py_XDECREF(name);
        name = PyType_GetName(Py_TYPE(function));
    }
    PyObject *code = PyObject_GetAttrString(function, "__code__");
    PyErr_Clear();
    PyObject *file = code != NULL ? PyObject_GetAttrString(code, "co_filename") : NULL;
    PyObject *line = code != NULL ? PyObject_GetAttrString(code, "co_firstlineno") : NULL;
    PyErr_Clear();
    PyObject *texts = Py_BuildValue("(OOO)", name != NULL ? name : Py_None,
                                    file != NULL ? file : Py_None, line != NULL ? line : Py_None);
    Py_XDECREF(name);
    Py_XDECREF(code);
    Py_XDECREF(file);
    Py_XDECREF(line);
    return texts;
}

static const char *text_at(PyObject *texts, Py_ssize_t index)
{
    PyObject *object = PyTuple_GetItem(texts, index);
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    PyErr_Clear();
    return text;
}

static kwpy_kernel *make(const kwpy_kernel_options *options, kwpy_kernel **list)
{
    kwpy_kernel *kernel = malloc(sizeof *kernel);
    if (kernel == NULL) {
        return (kwpy_kernel *)PyErr_NoMemory();
    }
    Py_INCREF(options->function);
    Py_INCREF(options->dispatcher);
    *kernel = (kwpy_kernel){.function = options->function,
                            .dispatcher = options->dispatcher,
                            .with_keyset = options->with_keyset,
                            .with_op = options->with_op};
    put_on(list, kernel);
    kernel_count++;
    return kernel;
}

bool kwpy_kernel_describe(const kwpy_kernel_options *options, kwpy_kernel **list,
                          kwpy_kernel **out_kernel, kw_kernel_descriptor *out_descriptor,
                          PyObject **out_texts)
{
    bool is_fallthrough = options->function == kwpy.fallthrough;
    if (!is_fallthrough && !PyCallable_Check(options->function)) {
        (void)PyErr_Format(PyExc_TypeError, "a kernel is a function or `fallthrough`, not %R",
                           (PyObject *)Py_TYPE(options->function));
        return false;
    }
    PyObject *texts = texts_of(options->function);
    if (texts == NULL) {
        return false;
    }
    kw_kernel_descriptor descriptor = is_fallthrough ? KW_FALLTHROUGH() : KW_BOXED(run);
    *out_kernel = NULL;
    if (!is_fallthrough) {
        kwpy_kernel *kernel = make(options, list);
        if (kernel == NULL) {
            Py_DECREF(texts);
            return false;
        }
        *out_kernel = kernel;
        descriptor.user_data = kernel;
        descriptor.destroy = destroy;
        descriptor.name = text_at(texts, 0);
    }
    const char *file = text_at(texts, 1);
    PyObject *line = PyTuple_GetItem(texts, 2);
    descriptor.file = file != NULL ? file : "";
    descriptor.line = PyLong_Check(line) ? (uint32_t)PyLong_AsUnsignedLongMask(line) : 0;
    descriptor.schema = options->schema;
    descriptor.priority = options->priority;
    descriptor.duplicates = options->duplicates;
    *out_descriptor = descriptor;
    *out_texts = texts;
    return true;
}
