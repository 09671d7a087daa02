// The arguments of a call as a handler gets them: as one would write the call, and whose classes
// are asked.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include "python/dispatch_args.h"

#include "python/convert.h"
#include "python/interpreter.h"
#include "python/module.h"
#include "python/operator.h"
#include "python/tensor.h"

static bool is_default(const kw_schema *schema, uint32_t index, const kw_value *value)
{
    kw_value constant;
    if (kw_value_default(schema, index, &constant, NULL) != KW_OK) {
        return false;
    }
    // None of the constants is a tensor.
    bool same = kw_value_equal(&constant, value);
    kw_value_release(&constant, NULL);
    return same;
}

// How many positional arguments there are, without those at the end that equal their defaults.
static uint32_t count_positional(const kw_schema *schema, const kw_frame *frame)
{
    uint32_t count = 0;
    while (count < frame->arg_count && !kw_schema_arg(schema, count).keyword_only) {
        count++;
    }
    while (count > 0 && is_default(schema, count - 1, &frame->args[count - 1])) {
        count--;
    }
    return count;
}

static PyObject *value_of(const kw_schema *schema, const kw_frame *frame, uint32_t index)
{
    return kwpy_value_new(&frame->args[index], kw_schema_arg(schema, index).type);
}

// The object, or NULL if it was not filled.
static PyObject *filled(PyObject *take_object, bool is_filled)
{
    if (!is_filled) {
        Py_CLEAR(take_object);
    }
    return take_object;
}

static bool put(PyObject *tuple, uint32_t index, PyObject *take_value)
{
    return take_value != NULL && PyTuple_SetItem(tuple, (Py_ssize_t)index, take_value) == 0;
}

static PyObject *positional_of(const kw_schema *schema, const kw_frame *frame)
{
    uint32_t count = count_positional(schema, frame);
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    bool done = tuple != NULL;
    for (uint32_t i = 0; done && i < count; i++) {
        done = put(tuple, i, value_of(schema, frame, i));
    }
    return filled(tuple, done);
}

static bool add_keyword(PyObject *dict, const kw_schema *schema, const kw_frame *frame,
                        uint32_t index)
{
    kw_argument argument = kw_schema_arg(schema, index);
    if (!argument.keyword_only || is_default(schema, index, &frame->args[index])) {
        return true;
    }
    PyObject *name =
        PyUnicode_FromStringAndSize(argument.name.data, (Py_ssize_t)argument.name.length);
    PyObject *value = value_of(schema, frame, index);
    bool done = name != NULL && value != NULL && PyDict_SetItem(dict, name, value) == 0;
    Py_XDECREF(name);
    Py_XDECREF(value);
    return done;
}

static PyObject *keywords_of(const kw_schema *schema, const kw_frame *frame)
{
    PyObject *dict = PyDict_New();
    bool done = dict != NULL;
    for (uint32_t i = 0; done && i < frame->arg_count; i++) {
        done = add_keyword(dict, schema, frame, i);
    }
    return filled(dict, done);
}

// Puts a class before the first one that it derives from, or else at the end.
static bool add_type(PyObject *types, PyObject *type)
{
    Py_ssize_t place = 0;
    const Py_ssize_t count = PyList_Size(types);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyList_GetItem(types, i) == type) {
            return true;
        }
    }
    while (place < count &&
           !PyType_IsSubtype((PyTypeObject *)type, (PyTypeObject *)PyList_GetItem(types, place))) {
        place++;
    }
    return PyList_Insert(types, place, type) == 0;
}

static bool add_tensor(PyObject *types, kw_tensor *tensor)
{
    if (tensor == NULL || !kw_tensor_is_python_dispatch(tensor)) {
        return true;
    }
    kw_tensor_retain(tensor);
    PyObject *object = kwpy_tensor_wrap(tensor);
    // A plain object: the subclass's own went away without its tensor, see its `__del__`.
    bool done = object != NULL &&
                (Py_TYPE(object) == kwpy.tensor || add_type(types, (PyObject *)Py_TYPE(object)));
    Py_XDECREF(object);
    return done;
}

static bool add_types(PyObject *types, const kw_value *value)
{
    bool done = true;
    if (value->tag == KW_TAG_TENSOR) {
        return add_tensor(types, value->as.as_tensor);
    }
    for (uint32_t i = 0; value->tag == KW_TAG_TENSOR_LIST && done && i < value->count; i++) {
        done = add_tensor(types, value->as.as_tensors[i]);
    }
    return done;
}

static PyObject *types_of(const kw_frame *frame)
{
    PyObject *types = PyList_New(0);
    bool done = types != NULL;
    for (uint32_t i = 0; done && i < frame->arg_count; i++) {
        done = add_types(types, &frame->args[i]);
    }
    PyObject *tuple = done ? PyList_AsTuple(types) : NULL;
    Py_XDECREF(types);
    return tuple;
}

bool kwpy_handling_init(kwpy_handling *handling, const kw_interpreter_call *call)
{
    *handling = (kwpy_handling){.op = kwpy_attached_operator(call->op)};
    if (handling->op != NULL) {
        handling->schema = kwpy_operator_schema((kwpy_operator *)handling->op);
    }
    if (handling->schema != NULL) {
        const kw_schema *schema = handling->schema->schema;
        handling->types = types_of(call->frame);
        handling->args = positional_of(schema, call->frame);
        handling->kwargs = keywords_of(schema, call->frame);
    }
    if (handling->types != NULL && handling->args != NULL && handling->kwargs != NULL) {
        return true;
    }
    kwpy_handling_fini(handling);
    return false;
}

void kwpy_handling_fini(kwpy_handling *handling)
{
    Py_CLEAR(handling->op);
    Py_CLEAR(handling->schema);
    Py_CLEAR(handling->types);
    Py_CLEAR(handling->args);
    Py_CLEAR(handling->kwargs);
}
