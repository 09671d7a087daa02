// From Python's objects to boxed values: types with parts, and Any.
//
// Layer:   python (public headers only)
// Threads: one, which holds the GIL.
// SPDX-License-Identifier: MIT
//
// The recursion goes down the type, whose levels the schema's parser bounds; within Any it goes
// down the object, at most DEPTH_MAX levels.

#include "python/convert_part.h"
#include "python/dtype.h"
#include "python/module.h"
#include "python/object.h"
#include "python/tensor.h"

#define DEPTH_MAX 64

// Names the element in what is wrong with it; false.
static bool at_element(kwpy_conversion *conversion, Py_ssize_t index)
{
    if (conversion->wrong != NULL) {
        PyObject *clause = PyUnicode_FromFormat("element %zd: %U", index, conversion->wrong);
        Py_DECREF(conversion->wrong);
        conversion->wrong = clause;
    }
    return false;
}

// The elements of a sequence as a tuple that the arena keeps; what is borrowed from them lives as
// long. NULL: no sequence, or an exception is set.
static PyObject *elements_of(kwpy_conversion *conversion, PyObject *object)
{
    if (PyUnicode_Check(object) || PyBytes_Check(object) || PyDict_Check(object) ||
        !PySequence_Check(object)) {
        return NULL;
    }
    PyObject *tuple = PySequence_Tuple(object);
    bool kept = tuple != NULL && kwpy_arena_keep(conversion->arena, tuple);
    Py_XDECREF(tuple);
    return kept ? tuple : NULL;
}

// Converts each element to a value of one type.
// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static kw_value *values_from(kwpy_conversion *conversion, PyObject *tuple, const kw_type *element)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    kw_value *values = kwpy_arena_allocate(conversion->arena, (size_t)count + 1, sizeof *values);
    for (Py_ssize_t i = 0; values != NULL && i < count; i++) {
        if (!kwpy_value_from(conversion, PyTuple_GetItem(tuple, i), element, &values[i])) {
            (void)at_element(conversion, i);
            return NULL;
        }
    }
    return values;
}

// Lists that have a tag of their own: from values to their elements.
static bool pack_tensors(kwpy_arena *arena, const kw_value *values, size_t count, kw_value *out)
{
    void **tensors = kwpy_arena_allocate(arena, count + 1, sizeof *tensors);
    for (size_t i = 0; tensors != NULL && i < count; i++) {
        tensors[i] = values[i].tag == KW_TAG_TENSOR ? values[i].as.as_tensor : NULL;
    }
    *out = kw_value_tensors((kw_tensor_list){tensors, count});
    return tensors != NULL;
}

static bool pack_ints(kwpy_arena *arena, const kw_value *values, size_t count, kw_value *out)
{
    int64_t *ints = kwpy_arena_allocate(arena, count + 1, sizeof *ints);
    for (size_t i = 0; ints != NULL && i < count; i++) {
        ints[i] = values[i].as.as_int;
    }
    *out = kw_value_ints((kw_int_list){ints, count});
    return ints != NULL;
}

static bool pack_symbols(kwpy_arena *arena, const kw_value *values, size_t count, kw_value *out)
{
    kw_symint *words = kwpy_arena_allocate(arena, count + 1, sizeof *words);
    for (size_t i = 0; words != NULL && i < count; i++) {
        words[i] = values[i].tag == KW_TAG_INT ? kw_symint_int(values[i].as.as_int)
                                               : kw_symint_node(values[i].as.as_object);
    }
    *out = kw_value_symints((kw_symint_list){words, count});
    return words != NULL;
}

static bool pack_floats(kwpy_arena *arena, const kw_value *values, size_t count, kw_value *out)
{
    double *floats = kwpy_arena_allocate(arena, count + 1, sizeof *floats);
    for (size_t i = 0; floats != NULL && i < count; i++) {
        floats[i] = values[i].as.as_float;
    }
    *out = kw_value_floats((kw_float_list){floats, count});
    return floats != NULL;
}

static bool pack_bools(kwpy_arena *arena, const kw_value *values, size_t count, kw_value *out)
{
    bool *bools = kwpy_arena_allocate(arena, count + 1, sizeof *bools);
    for (size_t i = 0; bools != NULL && i < count; i++) {
        bools[i] = values[i].as.as_bool;
    }
    *out = kw_value_bools((kw_bool_list){bools, count});
    return bools != NULL;
}

static bool pack(kwpy_arena *arena, const kw_type *element, const kw_value *values, size_t count,
                 kw_value *out)
{
    kw_type_kind kind = kw_type_kind_of(element);
    if (kind == KW_TYPE_OPTIONAL && kw_type_kind_of(kw_type_child(element, 0)) == KW_TYPE_TENSOR) {
        kind = KW_TYPE_TENSOR;
    }
    switch ((int)kind) {
    case KW_TYPE_TENSOR:
        return pack_tensors(arena, values, count, out);
    case KW_TYPE_INT:
    case KW_TYPE_QSCHEME:
    case KW_TYPE_DEVICE_INDEX:
    case KW_TYPE_SCALAR_TYPE:
    case KW_TYPE_LAYOUT:
    case KW_TYPE_MEMORY_FORMAT:
        return pack_ints(arena, values, count, out);
    case KW_TYPE_SYM_INT:
        return pack_symbols(arena, values, count, out);
    case KW_TYPE_FLOAT:
        return pack_floats(arena, values, count, out);
    case KW_TYPE_BOOL:
        return pack_bools(arena, values, count, out);
    default:
        *out = kw_value_values((kw_value_list){values, count});
        return true;
    }
}

// One value for each of a sized list's places: `kernel_size=3` for `int[2]`.
// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool repeat(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                   kw_value *out)
{
    const kw_type *element = kw_type_child(type, 0);
    size_t count = kw_type_list_size(type);
    kw_value *values = kwpy_arena_allocate(conversion->arena, count + 1, sizeof *values);
    if (values == NULL || !kwpy_value_from(conversion, object, element, &values[0])) {
        return false;
    }
    for (size_t i = 1; i < count; i++) {
        values[i] = values[0];
    }
    return pack(conversion->arena, element, values, count, out);
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool list_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                      kw_value *out)
{
    if (kw_type_is_sized(type) && (PyLong_Check(object) || PyFloat_Check(object))) {
        return repeat(conversion, object, type, out);
    }
    PyObject *tuple = elements_of(conversion, object);
    if (tuple == NULL) {
        return PyErr_Occurred() ? false : kwpy_misfit(conversion, object, type);
    }
    const kw_type *element = kw_type_child(type, 0);
    const kw_value *values = values_from(conversion, tuple, element);
    return values != NULL &&
           pack(conversion->arena, element, values, (size_t)PyTuple_Size(tuple), out);
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool tuple_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                       kw_value *out)
{
    PyObject *tuple = elements_of(conversion, object);
    if (tuple == NULL) {
        return PyErr_Occurred() ? false : kwpy_misfit(conversion, object, type);
    }
    uint32_t count = kw_type_child_count(type);
    if (PyTuple_Size(tuple) != (Py_ssize_t)count) {
        conversion->wrong = PyUnicode_FromFormat("%u elements are needed, and there are %zd",
                                                 (unsigned)count, PyTuple_Size(tuple));
        return false;
    }
    kw_value *values = kwpy_arena_allocate(conversion->arena, (size_t)count + 1, sizeof *values);
    for (uint32_t i = 0; values != NULL && i < count; i++) {
        if (!kwpy_value_from(conversion, PyTuple_GetItem(tuple, (Py_ssize_t)i),
                             kw_type_child(type, i), &values[i])) {
            return at_element(conversion, (Py_ssize_t)i);
        }
    }
    *out = kw_value_tuple((kw_value_list){values, count});
    return values != NULL;
}

// The items of a dict as a list that the arena keeps.
static PyObject *items_of(kwpy_conversion *conversion, PyObject *dict)
{
    PyObject *items = PyDict_Items(dict);
    bool kept = items != NULL && kwpy_arena_keep(conversion->arena, items);
    Py_XDECREF(items);
    return kept ? items : NULL;
}

// A key and its value. `type` NULL: Any of both.
// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool pair_from(kwpy_conversion *conversion, PyObject *pair, const kw_type *type,
                      kw_value *out_pair)
{
    for (uint32_t i = 0; i < 2; i++) {
        PyObject *object = PyTuple_GetItem(pair, (Py_ssize_t)i);
        bool done = type != NULL
                        ? kwpy_value_from(conversion, object, kw_type_child(type, i), &out_pair[i])
                        : kwpy_value_infer(conversion, object, &out_pair[i]);
        if (!done) {
            return false;
        }
    }
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool dict_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                      kw_value *out)
{
    if (!PyDict_Check(object)) {
        return kwpy_misfit(conversion, object, type);
    }
    PyObject *items = items_of(conversion, object);
    if (items == NULL) {
        return false;
    }
    size_t count = (size_t)PyList_Size(items);
    kw_value *values = kwpy_arena_allocate(conversion->arena, 2 * count + 1, sizeof *values);
    for (size_t i = 0; values != NULL && i < count; i++) {
        if (!pair_from(conversion, PyList_GetItem(items, (Py_ssize_t)i), type, &values[2 * i])) {
            return at_element(conversion, (Py_ssize_t)i);
        }
    }
    *out = kw_value_dict((kw_value_list){values, 2 * count});
    return values != NULL;
}

// The first member that takes the object.
// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool union_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                       kw_value *out)
{
    for (uint32_t i = 0; i < kw_type_child_count(type); i++) {
        if (kwpy_value_from(conversion, object, kw_type_child(type, i), out)) {
            return true;
        }
        Py_CLEAR(conversion->wrong);
        PyErr_Clear();
    }
    return kwpy_misfit(conversion, object, type);
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
bool kwpy_value_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                     kw_value *out_value)
{
    switch ((int)kw_type_kind_of(type)) {
    case KW_TYPE_OPTIONAL:
        if (object == Py_None) {
            *out_value = kw_value_none();
            return true;
        }
        return kwpy_value_from(conversion, object, kw_type_child(type, 0), out_value);
    case KW_TYPE_LIST:
        return list_from(conversion, object, type, out_value);
    case KW_TYPE_TUPLE:
        return tuple_from(conversion, object, type, out_value);
    case KW_TYPE_DICT:
        return dict_from(conversion, object, type, out_value);
    case KW_TYPE_UNION:
        return union_from(conversion, object, type, out_value);
    default:
        return kwpy_plain_from(conversion, object, type, out_value);
    }
}

// Any
// --------------------------------------------------------------------------------------------

static bool hold(kwpy_conversion *conversion, PyObject *object, kw_value *out)
{
    kw_object *held = kwpy_object_hold(object);
    if (held == NULL || !kwpy_arena_take_object(conversion->arena, held)) {
        return false;
    }
    *out = kw_value_object(held);
    return true;
}

// Lists of one kind of elements get the tag that C kernels expect.
static bool pack_inferred(kwpy_arena *arena, const kw_value *values, size_t count, kw_value *out)
{
    uint16_t tag = count > 0 ? values[0].tag : KW_TAG_NONE;
    for (size_t i = 1; i < count; i++) {
        tag = values[i].tag == tag ? tag : KW_TAG_NONE;
    }
    switch (tag) {
    case KW_TAG_TENSOR:
        return pack_tensors(arena, values, count, out);
    case KW_TAG_INT:
        return pack_ints(arena, values, count, out);
    case KW_TAG_FLOAT:
        return pack_floats(arena, values, count, out);
    case KW_TAG_BOOL:
        return pack_bools(arena, values, count, out);
    default:
        *out = kw_value_values((kw_value_list){values, count});
        return true;
    }
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool infer_sequence(kwpy_conversion *conversion, PyObject *object, kw_value *out)
{
    PyObject *tuple = elements_of(conversion, object);
    size_t count = tuple != NULL ? (size_t)PyTuple_Size(tuple) : 0;
    kw_value *values =
        tuple != NULL ? kwpy_arena_allocate(conversion->arena, count + 1, sizeof *values) : NULL;
    for (size_t i = 0; values != NULL && i < count; i++) {
        if (!kwpy_value_infer(conversion, PyTuple_GetItem(tuple, (Py_ssize_t)i), &values[i])) {
            return at_element(conversion, (Py_ssize_t)i);
        }
    }
    if (values == NULL) {
        return false;
    }
    if (PyTuple_Check(object)) {
        *out = kw_value_tuple((kw_value_list){values, count});
        return true;
    }
    return pack_inferred(conversion->arena, values, count, out);
}

// Whether all keys are of a kind that dicts of values may have.
static bool has_plain_keys(PyObject *dict)
{
    PyObject *keys = PyDict_Keys(dict);
    bool plain = keys != NULL;
    for (Py_ssize_t i = 0; plain && i < PyList_Size(keys); i++) {
        PyObject *key = PyList_GetItem(keys, i);
        plain = PyUnicode_Check(key) || PyLong_Check(key) || PyFloat_Check(key);
    }
    Py_XDECREF(keys);
    return plain;
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool infer_dict(kwpy_conversion *conversion, PyObject *object, kw_value *out)
{
    PyObject *items = items_of(conversion, object);
    size_t count = items != NULL ? (size_t)PyList_Size(items) : 0;
    kw_value *values = items != NULL
                           ? kwpy_arena_allocate(conversion->arena, 2 * count + 1, sizeof *values)
                           : NULL;
    for (size_t i = 0; values != NULL && i < count; i++) {
        if (!pair_from(conversion, PyList_GetItem(items, (Py_ssize_t)i), NULL, &values[2 * i])) {
            return at_element(conversion, (Py_ssize_t)i);
        }
    }
    *out = kw_value_dict((kw_value_list){values, 2 * count});
    return values != NULL;
}

static bool infer_plain(kwpy_conversion *conversion, PyObject *object, kw_value *out)
{
    if (object == Py_None) {
        *out = kw_value_none();
    } else if (PyBool_Check(object)) {
        *out = kw_value_bool(object == Py_True);
    } else if (PyFloat_Check(object)) {
        *out = kw_value_float(PyFloat_AsDouble(object));
    } else if (PyLong_Check(object)) {
        int overflow = 0;
        *out = kw_value_int(PyLong_AsLongLongAndOverflow(object, &overflow));
        return overflow == 0 || hold(conversion, object, out);
    } else if (kwpy_tensor_check(object)) {
        return kwpy_tensor_value_from(conversion, object, NULL, out);
    } else if (kwpy_object_check(object)) {
        *out = kw_value_object(kwpy_object_of(object));
    } else if (kwpy_generator_check(object)) {
        *out = kw_value_generator(object);
    } else if (PyComplex_Check(object)) {
        kw_complex *number = kwpy_arena_allocate(conversion->arena, 1, sizeof *number);
        if (number == NULL) {
            return false;
        }
        number->real = PyComplex_RealAsDouble(object);
        number->imaginary = PyComplex_ImagAsDouble(object);
        *out = kw_value_complex(number);
    } else {
        return hold(conversion, object, out);
    }
    return true;
}

static bool infer_text(kwpy_conversion *conversion, PyObject *object, kw_value *out)
{
    const char *text = PyUnicode_AsUTF8AndSize(object, NULL);
    if (text == NULL) { // a lone surrogate: no text that C could read
        PyErr_Clear();
        return hold(conversion, object, out);
    }
    *out = kw_value_string(text);
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
bool kwpy_value_infer(kwpy_conversion *conversion, PyObject *object, kw_value *out_value)
{
    if (PyUnicode_Check(object)) {
        return infer_text(conversion, object, out_value);
    }
    if (PyObject_IsInstance(object, kwpy.device) == 1) {
        kw_device device = {0, 0};
        bool done = kwpy_device_from(object, &device);
        *out_value = kw_value_device(device);
        return done;
    }
    bool is_sequence = Py_TYPE(object) == &PyList_Type || Py_TYPE(object) == &PyTuple_Type;
    bool is_dict = Py_TYPE(object) == &PyDict_Type && has_plain_keys(object);
    if (!is_sequence && !is_dict) {
        return infer_plain(conversion, object, out_value);
    }
    if (conversion->depth == DEPTH_MAX) {
        conversion->wrong = PyUnicode_FromString("lists or dicts are nested too deep");
        return false;
    }
    conversion->depth++;
    bool done = is_sequence ? infer_sequence(conversion, object, out_value)
                            : infer_dict(conversion, object, out_value);
    conversion->depth--;
    return done;
}
