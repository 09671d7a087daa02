// From boxed values to Python's objects.
//
// Layer:   python (public headers only)
// Threads: one, which holds the GIL.
// SPDX-License-Identifier: MIT
//
// The recursion goes down values, which kernels make; what is nested deeper than DEPTH_MAX is
// refused.

#include "python/convert.h"
#include "python/dtype.h"
#include "python/module.h"
#include "python/object.h"
#include "python/pack.h"
#include "python/tensor.h"

#define DEPTH_MAX 128

static PyObject *make(const kw_value *value, const kw_type *type, uint32_t depth);

// The type without "?".
static const kw_type *required(const kw_type *type)
{
    return type != NULL && kw_type_kind_of(type) == KW_TYPE_OPTIONAL ? kw_type_child(type, 0)
                                                                     : type;
}

// The type of a list's elements, of a tuple's member, of a dict's keys and values.
static const kw_type *part(const kw_type *type, uint32_t index)
{
    type = required(type);
    if (type == NULL || kw_type_child_count(type) == 0) {
        return NULL;
    }
    switch ((int)kw_type_kind_of(type)) {
    case KW_TYPE_LIST:
        return kw_type_child(type, 0);
    case KW_TYPE_TUPLE:
        return index < kw_type_child_count(type) ? kw_type_child(type, index) : NULL;
    case KW_TYPE_DICT:
        return kw_type_child(type, index % 2);
    default:
        return NULL;
    }
}

static PyObject *make_int(int64_t integer, const kw_type *type)
{
    type = required(type);
    switch (type != NULL ? (int)kw_type_kind_of(type) : 0) {
    case KW_TYPE_SCALAR_TYPE:
        return kwpy_dtype_new(integer);
    case KW_TYPE_LAYOUT:
        return kwpy_layout_new(integer);
    case KW_TYPE_MEMORY_FORMAT:
        return kwpy_memory_format_new(integer);
    default:
        return PyLong_FromLongLong(integer);
    }
}

static PyObject *make_tensor(void *tensor)
{
    if (tensor == NULL) {
        Py_RETURN_NONE;
    }
    kw_tensor_retain(tensor);
    return kwpy_tensor_wrap(tensor);
}

static PyObject *make_symbol(kw_symint symint)
{
    return kw_symint_is_int(symint) ? PyLong_FromLongLong((int64_t)symint.word)
                                    : kwpy_object_new(kw_symint_object(symint));
}

// One element of any list.
// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static PyObject *element(const kw_value *list, uint32_t i, const kw_type *type, uint32_t depth)
{
    switch (list->tag) {
    case KW_TAG_TENSOR_LIST:
        return make_tensor(list->as.as_tensors[i]);
    case KW_TAG_INT_LIST:
        return make_int(list->as.as_ints[i], part(type, i));
    case KW_TAG_FLOAT_LIST:
        return PyFloat_FromDouble(list->as.as_floats[i]);
    case KW_TAG_BOOL_LIST:
        return PyBool_FromLong(list->as.as_bools[i]);
    case KW_TAG_SYM_INT_LIST:
        return make_symbol(list->as.as_symints[i]);
    default:
        return make(&list->as.as_values[i], part(type, i), depth + 1);
    }
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static PyObject *make_list(const kw_value *value, const kw_type *type, uint32_t depth)
{
    PyObject *list = PyList_New((Py_ssize_t)value->count);
    for (uint32_t i = 0; list != NULL && i < value->count; i++) {
        kwpy_list_put(&list, (Py_ssize_t)i, element(value, i, type, depth));
    }
    return list;
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static PyObject *make_tuple(const kw_value *value, const kw_type *type, uint32_t depth)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)value->count);
    for (uint32_t i = 0; tuple != NULL && i < value->count; i++) {
        kwpy_tuple_put(&tuple, (Py_ssize_t)i, element(value, i, type, depth));
    }
    return tuple;
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static PyObject *make_dict(const kw_value *value, const kw_type *type, uint32_t depth)
{
    PyObject *dict = PyDict_New();
    for (uint32_t i = 0; dict != NULL && i < value->count; i++) {
        PyObject *key = element(value, 2 * i, type, depth);
        kwpy_dict_put(&dict, key, key != NULL ? element(value, 2 * i + 1, type, depth) : NULL);
        Py_XDECREF(key);
    }
    return dict;
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static PyObject *make_nested(const kw_value *value, const kw_type *type, uint32_t depth)
{
    if (depth > DEPTH_MAX) {
        return PyErr_Format(PyExc_ValueError, "a value is nested more than %d deep", DEPTH_MAX);
    }
    switch (value->tag) {
    case KW_TAG_TUPLE:
        return make_tuple(value, type, depth);
    case KW_TAG_DICT:
        return make_dict(value, type, depth);
    default:
        return make_list(value, type, depth);
    }
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static PyObject *make(const kw_value *value, const kw_type *type, uint32_t depth)
{
    switch (value->tag) {
    case KW_TAG_NONE:
        Py_RETURN_NONE;
    case KW_TAG_BOOL:
        return PyBool_FromLong(value->as.as_bool);
    case KW_TAG_INT:
        return make_int(value->as.as_int, type);
    case KW_TAG_FLOAT:
        return PyFloat_FromDouble(value->as.as_float);
    case KW_TAG_DEVICE:
        return kwpy_device_new(value->as.as_device);
    case KW_TAG_STRING:
        return PyUnicode_DecodeUTF8(value->as.as_string, (Py_ssize_t)value->count,
                                    "surrogateescape");
    case KW_TAG_TENSOR:
        return make_tensor(value->as.as_tensor);
    case KW_TAG_GENERATOR:
        return kwpy_generator_find(value->as.as_generator);
    case KW_TAG_COMPLEX:
        return PyComplex_FromDoubles(value->as.as_complex->real, value->as.as_complex->imaginary);
    case KW_TAG_SYM_INT:
    case KW_TAG_SYM_BOOL:
    case KW_TAG_OBJECT:
        return kwpy_object_new(value->as.as_object);
    case KW_TAG_TENSOR_LIST:
    case KW_TAG_INT_LIST:
    case KW_TAG_FLOAT_LIST:
    case KW_TAG_BOOL_LIST:
    case KW_TAG_SYM_INT_LIST:
    case KW_TAG_LIST:
    case KW_TAG_TUPLE:
    case KW_TAG_DICT:
        return make_nested(value, type, depth);
    default:
        return PyErr_Format(PyExc_TypeError, "a value has the unknown tag %u",
                            (unsigned)value->tag);
    }
}

PyObject *kwpy_value_new(const kw_value *value, const kw_type *type)
{
    return make(value, type, 0);
}
