// Element types, layouts, memory formats and devices: from and to Python's objects.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include "python/dtype.h"

#include <keyway/dtype.h>

#include "python/error.h"
#include "python/module.h"

static PyObject *member(PyObject *members, int64_t number)
{
    if (members == NULL || number < 0 || number >= PyTuple_Size(members)) {
        return PyLong_FromLongLong(number);
    }
    PyObject *object = PyTuple_GetItem(members, (Py_ssize_t)number);
    Py_XINCREF(object);
    return object;
}

PyObject *kwpy_dtype_new(int64_t dtype)
{
    return member(kwpy.dtypes, dtype);
}

PyObject *kwpy_layout_new(int64_t layout)
{
    return member(kwpy.layouts, layout);
}

PyObject *kwpy_memory_format_new(int64_t format)
{
    return member(kwpy.memory_formats, format);
}

// The devices made so far, of small numbers.
#define INDEX_COUNT 9 // from -1 on
static PyObject *devices_made[KW_DEVICE_TYPE_COUNT][INDEX_COUNT];

PyObject *kwpy_device_new(kw_device device)
{
    PyObject *made = NULL;
    PyObject **place = &made;
    if (device.type >= 0 && device.type < KW_DEVICE_TYPE_COUNT && device.index >= -1 &&
        device.index < INDEX_COUNT - 1) {
        place = &devices_made[device.type][device.index + 1];
    }
    if (*place == NULL) {
        *place = PyObject_CallFunction(kwpy.device, "ii", (int)device.type, (int)device.index);
    }
    if (place != &made) {
        Py_XINCREF(*place);
    }
    return *place;
}

// Reads a number below `count`.
static bool number_from(PyObject *object, const char *what, long count, uint8_t *out_number)
{
    long number = PyLong_AsLong(object);
    if (number == -1 && PyErr_Occurred()) {
        return false;
    }
    if (number < 0 || number >= count) {
        (void)PyErr_Format(PyExc_ValueError, "%ld is no %s", number, what);
        return false;
    }
    *out_number = (uint8_t)number;
    return true;
}

// Finds the member with a name.
static bool name_from(PyObject *object, const char *what, PyObject *members, uint8_t *out_number)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(members); i++) {
        PyObject *name = PyObject_GetAttrString(PyTuple_GetItem(members, i), "name");
        int same = name != NULL ? PyObject_RichCompareBool(name, object, Py_EQ) : -1;
        Py_XDECREF(name);
        if (same != 0) {
            *out_number = (uint8_t)i;
            return same > 0;
        }
    }
    (void)PyErr_Format(PyExc_ValueError, "%R is no %s", object, what);
    return false;
}

static bool member_from(PyObject *object, const char *what, PyObject *members, uint8_t *out_number)
{
    if (PyUnicode_Check(object)) {
        return name_from(object, what, members, out_number);
    }
    return number_from(object, what, (long)PyTuple_Size(members), out_number);
}

bool kwpy_layout_from(PyObject *object, uint8_t *out_layout)
{
    return member_from(object, "layout", kwpy.layouts, out_layout);
}

bool kwpy_memory_format_from(PyObject *object, uint8_t *out_format)
{
    return member_from(object, "memory format", kwpy.memory_formats, out_format);
}

static bool dtype_of_name(PyObject *object, uint8_t *out_dtype)
{
    const char *name = PyUnicode_AsUTF8AndSize(object, NULL);
    kw_error err = KW_ERROR_INIT;
    kw_status status = name != NULL ? kw_dtype_find(name, out_dtype, &err) : KW_OK;
    if (status != KW_OK) {
        (void)PyErr_Format(PyExc_ValueError, "%s", err.text);
    }
    return name != NULL && status == KW_OK;
}

bool kwpy_dtype_from(PyObject *object, uint8_t *out_dtype)
{
    if (PyLong_Check(object)) {
        return number_from(object, "element type", (long)PyTuple_Size(kwpy.dtypes), out_dtype);
    }
    if (PyUnicode_Check(object)) {
        return dtype_of_name(object, out_dtype);
    }
    // NumPy's types have a name; its scalar classes a name of Python's.
    PyObject *name = PyObject_GetAttrString(object, "name");
    if (name == NULL) {
        PyErr_Clear();
        name = PyObject_GetAttrString(object, "__name__");
    }
    bool done = name != NULL && PyUnicode_Check(name) && dtype_of_name(name, out_dtype);
    Py_XDECREF(name);
    if (!done) {
        PyErr_Clear();
        (void)PyErr_Format(PyExc_TypeError, "%R is no element type", object);
    }
    return done;
}

static bool int32_at(PyObject *tuple, Py_ssize_t index, int32_t *out_number)
{
    PyObject *item = PyTuple_GetItem(tuple, index);
    long number = item != NULL ? PyLong_AsLong(item) : -1;
    if (PyErr_Occurred()) {
        return false;
    }
    if (number < INT32_MIN || number > INT32_MAX) {
        (void)PyErr_Format(PyExc_OverflowError, "%R is no device", tuple);
        return false;
    }
    *out_number = (int32_t)number;
    return true;
}

bool kwpy_device_from(PyObject *object, kw_device *out_device)
{
    PyObject *device = object;
    Py_INCREF(device);
    if (!PyTuple_Check(object)) {
        Py_DECREF(device);
        device = PyObject_CallFunctionObjArgs(kwpy.device, object, NULL);
        if (device == NULL) {
            return false;
        }
    }
    bool done = false;
    if (PyTuple_Size(device) == 2) {
        done = int32_at(device, 0, &out_device->type) && int32_at(device, 1, &out_device->index);
    } else {
        (void)PyErr_Format(PyExc_ValueError, "%R is no device", object);
    }
    Py_DECREF(device);
    return done;
}

static PyObject *dtype_bytes(PyObject *module, PyObject *object)
{
    (void)module;
    uint8_t dtype = 0;
    return kwpy_dtype_from(object, &dtype) ? PyLong_FromSize_t(kw_dtype_bytes(dtype)) : NULL;
}

static PyMethodDef functions[] = {
    {"_dtype_bytes", dtype_bytes, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

bool kwpy_dtype_add(PyObject *module)
{
    return kwpy_functions_add(module, functions);
}
