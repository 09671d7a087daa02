// From Python's objects to boxed values: types without parts.
//
// Layer:   python (public headers only)
// Threads: one, which holds the GIL.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "python/convert_part.h"
#include "python/dtype.h"
#include "python/error.h"
#include "python/module.h"
#include "python/object.h"
#include "python/tensor.h"

bool kwpy_misfit(kwpy_conversion *conversion, PyObject *object, const kw_type *type)
{
    char text[1024];
    (void)kw_type_format(type, text, sizeof text);
    PyObject *name = PyType_GetName(Py_TYPE(object));
    conversion->wrong =
        name != NULL ? PyUnicode_FromFormat("expected %s, but got %U", text, name) : NULL;
    Py_XDECREF(name);
    return false;
}

void kwpy_conversion_raise(kwpy_conversion *conversion, const char *place)
{
    PyObject *type = NULL;
    PyObject *cause = NULL;
    PyObject *traceback = NULL;
    if (conversion->wrong == NULL) {
        PyErr_Fetch(&type, &cause, &traceback);
        PyErr_NormalizeException(&type, &cause, &traceback);
        // Not about the object: out of memory, or an interrupt.
        if (cause == NULL || PyErr_GivenExceptionMatches(cause, PyExc_Exception) == 0 ||
            PyErr_GivenExceptionMatches(cause, PyExc_MemoryError) != 0) {
            PyErr_Restore(type, cause, traceback);
            return;
        }
        conversion->wrong = PyObject_Str(cause);
    }
    if (conversion->wrong != NULL) {
        (void)PyErr_Format(PyExc_TypeError, "%s: %U", place, conversion->wrong);
        Py_CLEAR(conversion->wrong);
    }
    if (cause != NULL) {
        PyObject *new_type = NULL;
        PyObject *error = NULL;
        PyObject *new_traceback = NULL;
        PyErr_Fetch(&new_type, &error, &new_traceback);
        PyErr_NormalizeException(&new_type, &error, &new_traceback);
        if (traceback != NULL) {
            (void)PyException_SetTraceback(cause, traceback);
        }
        Py_INCREF(cause);
        PyException_SetCause(error, cause);
        PyErr_Restore(new_type, error, new_traceback);
    }
    Py_XDECREF(type);
    Py_XDECREF(cause);
    Py_XDECREF(traceback);
}

// NumPy's bools and short complex numbers are none of Python's; they are told by name.
static bool has_type_name(PyObject *object, const char *wanted)
{
    PyObject *name = PyType_GetName(Py_TYPE(object));
    const char *text = name != NULL ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    bool same = text != NULL && strncmp(text, wanted, strlen(wanted)) == 0;
    Py_XDECREF(name);
    return same;
}

static bool is_numpy_bool(PyObject *object)
{
    return has_type_name(object, "bool");
}

static bool is_complex(PyObject *object)
{
    return PyComplex_Check(object) || has_type_name(object, "complex");
}

static bool has_index(PyObject *object)
{
    return PyLong_Check(object) || PyIndex_Check(object);
}

static bool int_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                     int64_t *out_int)
{
    if (PyBool_Check(object) || !has_index(object) || is_numpy_bool(object)) {
        return kwpy_misfit(conversion, object, type);
    }
    PyObject *number = PyNumber_Index(object);
    *out_int = number != NULL ? PyLong_AsLongLong(number) : -1;
    Py_XDECREF(number);
    return *out_int != -1 || !PyErr_Occurred();
}

static bool float_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                       double *out_float)
{
    if (PyFloat_Check(object)) {
        *out_float = PyFloat_AsDouble(object);
        return true;
    }
    // PyNumber_Float() would read texts, too.
    if (PyBool_Check(object) || PyUnicode_Check(object) || is_complex(object) ||
        !PyNumber_Check(object)) {
        return kwpy_misfit(conversion, object, type);
    }
    *out_float = PyFloat_AsDouble(object);
    return *out_float != -1.0 || !PyErr_Occurred();
}

static bool bool_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                      bool *out_bool)
{
    if (!PyBool_Check(object) && !is_numpy_bool(object)) {
        return kwpy_misfit(conversion, object, type);
    }
    int truth = PyObject_IsTrue(object);
    *out_bool = truth > 0;
    return truth >= 0;
}

static bool complex_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                         kw_value *out_value)
{
    kw_complex *number = kwpy_arena_allocate(conversion->arena, 1, sizeof *number);
    if (number == NULL) {
        return false;
    }
    if (PyComplex_Check(object)) {
        number->real = PyComplex_RealAsDouble(object);
        number->imaginary = PyComplex_ImagAsDouble(object);
    } else if (is_complex(object) && PyObject_HasAttrString(object, "__complex__") != 0) {
        PyObject *python = PyObject_CallMethod(object, "__complex__", NULL);
        if (python == NULL) {
            return false;
        }
        number->real = PyComplex_RealAsDouble(python);
        number->imaginary = PyComplex_ImagAsDouble(python);
        Py_DECREF(python);
    } else {
        number->imaginary = 0;
        if (!float_from(conversion, object, type, &number->real)) {
            return false;
        }
    }
    *out_value = kw_value_complex(number);
    return true;
}

static bool scalar_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                        kw_value *out_value)
{
    if (PyBool_Check(object) || is_numpy_bool(object)) {
        bool boolean = false;
        bool done = bool_from(conversion, object, type, &boolean);
        *out_value = kw_value_bool(boolean);
        return done;
    }
    if (has_index(object)) {
        int64_t integer = 0;
        bool done = int_from(conversion, object, type, &integer);
        *out_value = kw_value_int(integer);
        return done;
    }
    if (is_complex(object)) {
        return complex_from(conversion, object, type, out_value);
    }
    double number = 0;
    bool done = float_from(conversion, object, type, &number);
    *out_value = kw_value_float(number);
    return done;
}

static bool string_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                        kw_value *out_value)
{
    if (!PyUnicode_Check(object)) {
        return kwpy_misfit(conversion, object, type);
    }
    Py_ssize_t length = 0;
    const char *text = PyUnicode_AsUTF8AndSize(object, &length);
    if (text == NULL) {
        return false;
    }
    if (strlen(text) != (size_t)length) {
        PyErr_SetString(PyExc_ValueError, "a zero byte in a text");
        return false;
    }
    *out_value = kw_value_string(text);
    return true;
}

// A reference for the length of the call: another thread may want to change the tensor meanwhile,
// and sees by the count that it is in use.
static bool take_reference(kwpy_conversion *conversion, kw_tensor *take_tensor, kw_value *out_value)
{
    *out_value = kw_value_tensor(take_tensor);
    return kwpy_arena_take_tensor(conversion->arena, take_tensor);
}

bool kwpy_tensor_value_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                            kw_value *out_value)
{
    if (object == Py_None && conversion->allows_absent) {
        *out_value = kw_value_none();
        return true;
    }
    if (!kwpy_tensor_can(object)) {
        return kwpy_misfit(conversion, object, type);
    }
    kw_tensor *tensor = kwpy_tensor_from(object);
    return tensor != NULL && take_reference(conversion, tensor, out_value);
}

static bool symbol_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                        kw_value *out_value)
{
    if (kwpy_object_check(object)) {
        *out_value = kw_value_object(kwpy_object_of(object));
        out_value->tag =
            kw_type_kind_of(type) == KW_TYPE_SYM_INT ? KW_TAG_SYM_INT : KW_TAG_SYM_BOOL;
        return true;
    }
    int64_t integer = 0;
    bool boolean = false;
    if (kw_type_kind_of(type) == KW_TYPE_SYM_BOOL) {
        bool done = bool_from(conversion, object, type, &boolean);
        *out_value = kw_value_bool(boolean);
        return done;
    }
    bool done = int_from(conversion, object, type, &integer);
    *out_value = kw_value_int(integer);
    return done;
}

// Numbers with names: element types, layouts, memory formats.
static bool named_from(PyObject *object, bool (*read)(PyObject *object, uint8_t *out_number),
                       kw_value *out_value)
{
    uint8_t number = 0;
    bool done = read(object, &number);
    *out_value = kw_value_int(number);
    return done;
}

static bool device_from(PyObject *object, kw_value *out_value)
{
    kw_device device = {0, 0};
    bool done = kwpy_device_from(object, &device);
    *out_value = kw_value_device(device);
    return done;
}

static bool object_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                        kw_value *out_value)
{
    if (!kwpy_object_check(object)) {
        return kwpy_misfit(conversion, object, type);
    }
    *out_value = kw_value_object(kwpy_object_of(object));
    return true;
}

static bool generator_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                           kw_value *out_value)
{
    if (!kwpy_generator_check(object)) {
        return kwpy_misfit(conversion, object, type);
    }
    *out_value = kw_value_generator(object);
    return true;
}

static bool number_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                        kw_value *out_value)
{
    int64_t integer = 0;
    double number = 0;
    bool boolean = false;
    bool done = false;
    switch ((int)kw_type_kind_of(type)) {
    case KW_TYPE_FLOAT:
        done = float_from(conversion, object, type, &number);
        *out_value = kw_value_float(number);
        return done;
    case KW_TYPE_BOOL:
        done = bool_from(conversion, object, type, &boolean);
        *out_value = kw_value_bool(boolean);
        return done;
    default: // INT, DEVICE_INDEX, QSCHEME
        done = int_from(conversion, object, type, &integer);
        *out_value = kw_value_int(integer);
        return done;
    }
}

bool kwpy_plain_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                     kw_value *out_value)
{
    switch ((int)kw_type_kind_of(type)) {
    case KW_TYPE_TENSOR:
        return kwpy_tensor_value_from(conversion, object, type, out_value);
    case KW_TYPE_INT:
    case KW_TYPE_DEVICE_INDEX:
    case KW_TYPE_QSCHEME:
    case KW_TYPE_FLOAT:
    case KW_TYPE_BOOL:
        return number_from(conversion, object, type, out_value);
    case KW_TYPE_STRING:
        return string_from(conversion, object, type, out_value);
    case KW_TYPE_COMPLEX:
        return complex_from(conversion, object, type, out_value);
    case KW_TYPE_SCALAR:
        return scalar_from(conversion, object, type, out_value);
    case KW_TYPE_SYM_INT:
    case KW_TYPE_SYM_BOOL:
        return symbol_from(conversion, object, type, out_value);
    case KW_TYPE_SCALAR_TYPE:
        return named_from(object, kwpy_dtype_from, out_value);
    case KW_TYPE_LAYOUT:
        return named_from(object, kwpy_layout_from, out_value);
    case KW_TYPE_MEMORY_FORMAT:
        return named_from(object, kwpy_memory_format_from, out_value);
    case KW_TYPE_DEVICE:
        return device_from(object, out_value);
    case KW_TYPE_GENERATOR:
        return generator_from(conversion, object, type, out_value);
    case KW_TYPE_NONE:
        *out_value = kw_value_none();
        return object == Py_None || kwpy_misfit(conversion, object, type);
    case KW_TYPE_ANY:
    case KW_TYPE_ANY_CLASS:
    case KW_TYPE_ANY_ENUM:
    case KW_TYPE_VARIABLE:
        return kwpy_value_infer(conversion, object, out_value);
    default: // storages, streams, classes, futures, ...
        return object_from(conversion, object, type, out_value);
    }
}
