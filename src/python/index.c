// Indices of the type Tensor: t[1, 2:5, None, ...], item() and tolist().
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include <keyway/tensor_view.h>

#include "python/error.h"
#include "python/module.h"
#include "python/tensor.h"

// A view that grows index by index.
typedef struct index_walk {
    kw_tensor *tensor; // one reference
    int64_t dim;       // that the next index is for
} index_walk;

// Takes the result of one step. False with an exception.
static bool step(index_walk *walk, kw_status status, kw_tensor *next, const kw_error *err)
{
    if (status != KW_OK) {
        // What Python programs expect of an index, so that iteration ends.
        (void)PyErr_Format(status == KW_INVALID_ARGUMENT ? PyExc_IndexError : PyExc_RuntimeError,
                           "%s", err->text);
        return false;
    }
    kw_tensor_release(walk->tensor);
    walk->tensor = next;
    return true;
}

static bool bound_from(PyObject *slice, const char *name, int64_t otherwise, int64_t *out_bound)
{
    PyObject *object = PyObject_GetAttrString(slice, name);
    if (object == NULL) {
        return false;
    }
    *out_bound = otherwise;
    if (object != Py_None) {
        PyObject *number = PyNumber_Index(object);
        // Bounds are clamped, so numbers beyond 64 bits are their nearest neighbours.
        *out_bound = number != NULL ? (int64_t)PyNumber_AsSsize_t(number, NULL) : -1;
        Py_XDECREF(number);
    }
    Py_DECREF(object);
    return !PyErr_Occurred();
}

static bool take_slice(index_walk *walk, PyObject *slice)
{
    int64_t start = 0;
    int64_t end = KW_SLICE_END;
    int64_t every = 1;
    if (!bound_from(slice, "step", 1, &every) || !bound_from(slice, "start", 0, &start) ||
        !bound_from(slice, "stop", KW_SLICE_END, &end)) {
        return false;
    }
    if (every < 1) {
        PyErr_SetString(PyExc_ValueError, "the step of a slice is at least 1: a view has no "
                                          "negative strides");
        return false;
    }
    kw_tensor *next = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_slice(walk->tensor, walk->dim++, start, end, every, &next, &err);
    return step(walk, status, next, &err);
}

static bool take_number(index_walk *walk, PyObject *object)
{
    PyObject *number = PyNumber_Index(object);
    if (number == NULL) {
        PyErr_Clear();
        (void)PyErr_Format(PyExc_TypeError,
                           "an index is an integer, a slice, None or ..., not %R: a view cannot "
                           "have other indices",
                           (PyObject *)Py_TYPE(object));
        return false;
    }
    int64_t index = PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (index == -1 && PyErr_Occurred()) {
        return false;
    }
    kw_tensor *next = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_select(walk->tensor, walk->dim, index, &next, &err);
    return step(walk, status, next, &err);
}

static bool take_none(index_walk *walk)
{
    kw_tensor *next = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_unsqueeze(walk->tensor, walk->dim++, &next, &err);
    return step(walk, status, next, &err);
}

// How many dimensions the parts of an index take; -1 with an exception.
static Py_ssize_t dims_taken(PyObject *parts)
{
    Py_ssize_t taken = 0;
    bool has_ellipsis = false;
    for (Py_ssize_t i = 0; i < PyTuple_Size(parts); i++) {
        PyObject *part = PyTuple_GetItem(parts, i);
        taken += part == Py_None || part == Py_Ellipsis ? 0 : 1;
        if (part == Py_Ellipsis && has_ellipsis) {
            PyErr_SetString(PyExc_IndexError, "an index has one ... at most");
            return -1;
        }
        has_ellipsis = has_ellipsis || part == Py_Ellipsis;
    }
    return taken;
}

static bool take(index_walk *walk, PyObject *part, Py_ssize_t skipped)
{
    if (part == Py_Ellipsis) {
        walk->dim += skipped;
        return true;
    }
    if (part == Py_None) {
        return take_none(walk);
    }
    return PySlice_Check(part) ? take_slice(walk, part) : take_number(walk, part);
}

// Makes the view of an index. One reference; NULL with an exception.
static kw_tensor *view_of(kw_tensor *tensor, PyObject *index)
{
    PyObject *parts = index;
    Py_INCREF(parts);
    if (!PyTuple_Check(index)) {
        Py_DECREF(parts);
        parts = PyTuple_Pack(1, index);
    }
    Py_ssize_t taken = parts != NULL ? dims_taken(parts) : -1;
    Py_ssize_t skipped = (Py_ssize_t)kw_tensor_dim(tensor) - taken;
    bool done = taken >= 0;
    if (done && skipped < 0) {
        (void)PyErr_Format(PyExc_IndexError, "%zd indices for a tensor of %u dimensions", taken,
                           (unsigned)kw_tensor_dim(tensor));
        done = false;
    }
    index_walk walk = {.tensor = NULL};
    if (done) {
        kw_error err = KW_ERROR_INIT;
        kw_status status = kw_tensor_alias(tensor, &walk.tensor, &err);
        if (status != KW_OK) {
            (void)kwpy_raise(status, &err);
            done = false;
        }
    }
    for (Py_ssize_t i = 0; done && i < PyTuple_Size(parts); i++) {
        done = take(&walk, PyTuple_GetItem(parts, i), skipped);
    }
    Py_XDECREF(parts);
    if (!done) {
        kw_tensor_release(walk.tensor);
        return NULL;
    }
    return walk.tensor;
}

PyObject *kwpy_tensor_get_item(PyObject *self, PyObject *index)
{
    kw_tensor *view = view_of(kwpy_tensor_get(self), index);
    return view != NULL ? kwpy_tensor_wrap(view) : NULL;
}

// A tensor of one element with a number's value. One reference; NULL with an exception.
static kw_tensor *tensor_of_number(PyObject *value, uint8_t dtype)
{
    const kw_tensor_options options = {
        .struct_size = sizeof options, .dtype = dtype, .device = {KW_DEVICE_CPU, -1}};
    kw_tensor *tensor = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_create(&options, &tensor, &err);
    if (status != KW_OK) {
        (void)kwpy_raise(status, &err);
        return NULL;
    }
    kw_tensor_retain(tensor);
    PyObject *object = kwpy_tensor_wrap(tensor);
    PyObject *memory = object != NULL ? PyMemoryView_FromObject(object) : NULL;
    PyObject *place = memory != NULL ? PyTuple_New(0) : NULL;
    bool done = place != NULL && PyObject_SetItem(memory, place, value) == 0;
    Py_XDECREF(place);
    Py_XDECREF(memory);
    Py_XDECREF(object);
    if (!done) {
        kw_tensor_release(tensor);
        return NULL;
    }
    return tensor;
}

int kwpy_tensor_set_item(PyObject *self, PyObject *index, PyObject *value)
{
    if (value == NULL) {
        PyErr_SetString(PyExc_TypeError, "elements of a tensor cannot be deleted");
        return -1;
    }
    kw_tensor *tensor = kwpy_tensor_get(self);
    kw_tensor *source = kwpy_tensor_can(value) || !PyNumber_Check(value)
                            ? kwpy_tensor_from(value)
                            : tensor_of_number(value, kw_tensor_dtype(tensor));
    kw_tensor *view = source != NULL ? view_of(tensor, index) : NULL;
    kw_status status = KW_OK;
    if (view != NULL) {
        kw_error err = KW_ERROR_INIT;
        Py_BEGIN_ALLOW_THREADS;
        status = kw_tensor_copy(view, source, &err);
        Py_END_ALLOW_THREADS;
        if (status != KW_OK) {
            (void)kwpy_raise(status, &err);
        }
    }
    bool done = view != NULL && status == KW_OK;
    kw_tensor_release(view);
    kw_tensor_release(source);
    return done ? 0 : -1;
}

PyObject *kwpy_tensor_to_list(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *memory = PyMemoryView_FromObject(self);
    PyObject *list = memory != NULL ? PyObject_CallMethod(memory, "tolist", NULL) : NULL;
    Py_XDECREF(memory);
    return list;
}

PyObject *kwpy_tensor_item(PyObject *self, PyObject *unused)
{
    (void)unused;
    kw_tensor *tensor = kwpy_tensor_get(self);
    if (kw_tensor_is_symbolic(tensor) || kw_tensor_numel(tensor) != 1) {
        return PyErr_Format(PyExc_ValueError, "a tensor of one element is needed, not %R", self);
    }
    kw_tensor *scalar = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_view(tensor, (kw_int_list){NULL, 0}, &scalar, &err);
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    PyObject *object = kwpy_tensor_wrap(scalar);
    PyObject *value = object != NULL ? kwpy_tensor_to_list(object, NULL) : NULL;
    Py_XDECREF(object);
    return value;
}
