// Binding: Python's arguments in a frame, by a schema, and the returns of a frame in Python.
//
// Layer:   python (public headers only)
// Threads: one, which holds the GIL.
// SPDX-License-Identifier: MIT

#include "python/bind.h"

#include <stdio.h>

#include "python/convert.h"
#include "python/error.h"
#include "python/module.h"
#include "python/pack.h"
#include "python/tensor.h"

// A place in a message: the longest name of an operator, and an argument's.
#define PLACE_BYTES 512

static bool prepare(kwpy_bound *bound, uint32_t arg_count, uint32_t return_count)
{
    kwpy_arena_init(&bound->arena);
    kw_value *args = bound->args;
    kw_value *returns = bound->returns;
    bound->objects = bound->object_places;
    if (arg_count > KWPY_BOUND_ARGS) {
        args = kwpy_arena_allocate(&bound->arena, arg_count, sizeof *args);
        bound->objects = kwpy_arena_allocate(&bound->arena, arg_count, sizeof(PyObject *));
    }
    if (return_count > KWPY_BOUND_RETURNS) {
        returns = kwpy_arena_allocate(&bound->arena, return_count, sizeof *returns);
    }
    if (args == NULL || returns == NULL || bound->objects == NULL) {
        kwpy_arena_fini(&bound->arena);
        return false;
    }
    bound->frame = kw_frame_make(args, arg_count, returns, return_count);
    return true;
}

void kwpy_bound_fini(kwpy_bound *bound)
{
    kwpy_arena_fini(&bound->arena);
}

// "my::mul: argument 'a' (position 1)"
static void raise_at(kwpy_conversion *conversion, const char *op_name, const kwpy_schema *schema,
                     uint32_t index)
{
    char place[PLACE_BYTES];
    if (index >= schema->arg_count) {
        (void)snprintf(place, sizeof place, "%s: argument %u", op_name, (unsigned)index + 1);
    } else {
        const char *name =
            PyUnicode_AsUTF8AndSize(PyTuple_GetItem(schema->names, (Py_ssize_t)index), NULL);
        (void)snprintf(place, sizeof place, "%s: argument '%s' (position %u)", op_name,
                       name != NULL ? name : "?", (unsigned)index + 1);
    }
    kwpy_conversion_raise(conversion, place);
}

static bool convert(kwpy_bound *bound, const char *op_name, const kwpy_schema *schema,
                    uint32_t index, PyObject *object)
{
    kwpy_conversion conversion = {.arena = &bound->arena};
    bound->objects[index] = object;
    bool done =
        index < schema->arg_count
            ? kwpy_value_from(&conversion, object, kw_schema_arg(schema->schema, index).type,
                              &bound->frame.args[index])
            : kwpy_value_infer(&conversion, object, &bound->frame.args[index]);
    if (!done) {
        raise_at(&conversion, op_name, schema, index);
    }
    return done;
}

static bool take_default(kwpy_bound *bound, const char *op_name, kwpy_schema *schema,
                         uint32_t index)
{
    bound->objects[index] = NULL;
    const kw_value *value = kwpy_schema_default(schema, index);
    if (value != NULL) {
        bound->frame.args[index] = *value;
        return true;
    }
    if (!PyErr_Occurred()) {
        char type[256];
        (void)kw_type_format(kw_schema_arg(schema->schema, index).type, type, sizeof type);
        (void)PyErr_Format(PyExc_TypeError, "%s: missing argument '%U' (position %u) of type %s",
                           op_name, PyTuple_GetItem(schema->names, (Py_ssize_t)index),
                           (unsigned)index + 1, type);
    }
    return false;
}

// Raises for a keyword that is no argument's name. False: there is none.
static bool has_unknown_keyword(const char *op_name, const kwpy_schema *schema, PyObject *kwargs)
{
    PyObject *names = PyDict_Keys(kwargs);
    for (Py_ssize_t i = 0; names != NULL && i < PyList_Size(names); i++) {
        PyObject *name = PyList_GetItem(names, i);
        int known = PySequence_Contains(schema->names, name);
        if (known == 0) {
            (void)PyErr_Format(PyExc_TypeError, "%s: no argument is named %R", op_name, name);
        }
        if (known <= 0) {
            Py_DECREF(names);
            return true;
        }
    }
    Py_XDECREF(names);
    return names == NULL;
}

// Says which keyword is one too many: no argument's, or that of one which has a value by position.
static bool refuse_keyword(const char *op_name, const kwpy_schema *schema, PyObject *kwargs)
{
    if (!has_unknown_keyword(op_name, schema, kwargs)) {
        (void)PyErr_Format(PyExc_TypeError, "%s: an argument is given by position and by name",
                           op_name);
    }
    return false;
}

static bool bind_rest(kwpy_bound *bound, const char *op_name, kwpy_schema *schema,
                      uint32_t positional, PyObject *kwargs)
{
    Py_ssize_t left = kwargs != NULL ? PyDict_Size(kwargs) : 0;
    for (uint32_t i = positional; i < schema->arg_count; i++) {
        PyObject *object =
            left > 0 ? PyDict_GetItemWithError(kwargs, PyTuple_GetItem(schema->names, i)) : NULL;
        if (object == NULL) {
            if (PyErr_Occurred() ||
                (!kwpy_schema_has_default(schema, i) && left > 0 &&
                 has_unknown_keyword(op_name, schema, kwargs)) ||
                !take_default(bound, op_name, schema, i)) {
                return false;
            }
            continue;
        }
        left--;
        // The dict is the caller's, who may change it while the call runs.
        if (!kwpy_arena_keep(&bound->arena, object) ||
            !convert(bound, op_name, schema, i, object)) {
            return false;
        }
    }
    return left == 0 || refuse_keyword(op_name, schema, kwargs);
}

bool kwpy_bind(kwpy_bound *bound, const char *op_name, kwpy_schema *schema, PyObject *args,
               Py_ssize_t first, PyObject *kwargs)
{
    Py_ssize_t given = PyTuple_Size(args) - first;
    Py_ssize_t most = schema->is_vararg ? KW_FRAME_ARGS_MAX : (Py_ssize_t)schema->positional_count;
    if (given > most) {
        (void)PyErr_Format(PyExc_TypeError,
                           "%s: takes %zd positional arguments at most, and %zd are given", op_name,
                           most, given);
        return false;
    }
    uint32_t positional = (uint32_t)given;
    uint32_t count = positional > schema->arg_count ? positional : schema->arg_count;
    if (!prepare(bound, count, schema->return_count)) {
        return false;
    }
    bool done = true;
    for (uint32_t i = 0; done && i < positional; i++) {
        done = convert(bound, op_name, schema, i, PyTuple_GetItem(args, first + (Py_ssize_t)i));
    }
    if (!done || !bind_rest(bound, op_name, schema, positional, kwargs)) {
        kwpy_bound_fini(bound);
        return false;
    }
    return true;
}

// Results
// --------------------------------------------------------------------------------------------

// The object of the argument that a tensor is; NULL: it is none.
static PyObject *argument_of(const kwpy_bound *bound, const void *tensor)
{
    for (uint32_t i = 0; i < bound->frame.arg_count; i++) {
        if (bound->frame.args[i].tag == KW_TAG_TENSOR &&
            bound->frame.args[i].as.as_tensor == tensor && bound->objects[i] != NULL &&
            kwpy_tensor_check(bound->objects[i])) {
            return bound->objects[i];
        }
    }
    return NULL;
}

static PyObject *take_result(kwpy_bound *bound, const kwpy_schema *schema, uint32_t index)
{
    kw_value *value = &bound->frame.returns[index];
    const kw_type *type =
        index < schema->return_count ? kw_schema_return(schema->schema, index).type : NULL;
    PyObject *object = value->tag == KW_TAG_TENSOR ? argument_of(bound, value->as.as_tensor) : NULL;
    if (object != NULL) {
        Py_INCREF(object);
    } else if (value->tag == KW_TAG_TENSOR) {
        kw_tensor *tensor = value->as.as_tensor;
        *value = kw_value_none();
        return kwpy_tensor_wrap(tensor);
    } else {
        object = kwpy_value_new(value, type);
    }
    kw_value_release(value, kw_tensor_reference_type());
    return object;
}

PyObject *kwpy_bound_results(kwpy_bound *bound, const kwpy_schema *schema)
{
    uint32_t count = bound->frame.return_count;
    if (count == 0) {
        Py_RETURN_NONE;
    }
    if (count == 1) {
        return take_result(bound, schema, 0);
    }
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (uint32_t i = 0; tuple != NULL && i < count; i++) {
        kwpy_tuple_put(&tuple, (Py_ssize_t)i, take_result(bound, schema, i));
    }
    if (tuple == NULL) {
        kw_frame_release_returns(&bound->frame, kw_tensor_reference_type());
    }
    return tuple;
}

// Kernels
// --------------------------------------------------------------------------------------------

static PyObject *argument_object(const kwpy_schema *schema, const kw_frame *frame, uint32_t index)
{
    const kw_type *type =
        index < schema->arg_count ? kw_schema_arg(schema->schema, index).type : NULL;
    return kwpy_value_new(&frame->args[index], type);
}

static PyObject *keywords_of(const kwpy_schema *schema, const kw_frame *frame)
{
    PyObject *kwargs = PyDict_New();
    for (uint32_t i = schema->positional_count; kwargs != NULL && i < schema->arg_count; i++) {
        kwpy_dict_put(&kwargs, PyTuple_GetItem(schema->names, (Py_ssize_t)i),
                      argument_object(schema, frame, i));
    }
    return kwargs;
}

bool kwpy_unbind(const kwpy_schema *schema, const kw_frame *frame, Py_ssize_t first,
                 PyObject **out_args, PyObject **out_kwargs)
{
    if (frame->arg_count < schema->arg_count) {
        (void)kwpy_raise_text(KW_OPERATOR_REMOVED,
                              "the operator was redefined while the call was on its way");
        return false;
    }
    // What follows the keyword-only arguments belongs to "...", which excludes them.
    uint32_t positional = schema->is_vararg ? frame->arg_count : schema->positional_count;
    PyObject *args = PyTuple_New(first + (Py_ssize_t)positional);
    for (uint32_t i = 0; args != NULL && i < positional; i++) {
        kwpy_tuple_put(&args, first + (Py_ssize_t)i, argument_object(schema, frame, i));
    }
    bool has_keywords = schema->positional_count < schema->arg_count && !schema->is_vararg;
    *out_args = args;
    *out_kwargs = args != NULL && has_keywords ? keywords_of(schema, frame) : NULL;
    if (args == NULL || (has_keywords && *out_kwargs == NULL)) {
        Py_XDECREF(args);
        return false;
    }
    return true;
}

static bool set_return(const char *op_name, const kwpy_schema *schema, kw_frame *frame,
                       uint32_t index, PyObject *object)
{
    kwpy_arena arena;
    kwpy_arena_init(&arena);
    kwpy_conversion conversion = {.arena = &arena, .allows_absent = true};
    kw_value value = kw_value_none();
    bool done =
        kwpy_value_from(&conversion, object, kw_schema_return(schema->schema, index).type, &value);
    if (!done) {
        char place[PLACE_BYTES];
        (void)snprintf(place, sizeof place, "%s: return %u of the kernel", op_name,
                       (unsigned)index + 1);
        kwpy_conversion_raise(&conversion, place);
    } else {
        kw_error err = KW_ERROR_INIT;
        kw_status status =
            kw_value_own(&value, kw_tensor_reference_type(), &frame->returns[index], &err);
        if (status != KW_OK) {
            (void)kwpy_raise(status, &err);
            done = false;
        }
    }
    kwpy_arena_fini(&arena);
    return done;
}

bool kwpy_set_returns(const char *op_name, const kwpy_schema *schema, kw_frame *frame,
                      PyObject *result)
{
    uint32_t count = schema->return_count;
    if (count == 0) {
        if (result != Py_None) {
            (void)PyErr_Format(PyExc_TypeError,
                               "%s: the kernel returned %R, but the schema says ()", op_name,
                               (PyObject *)Py_TYPE(result));
        }
        return result == Py_None;
    }
    if (count == 1) {
        return set_return(op_name, schema, frame, 0, result);
    }
    if (!PyTuple_Check(result) && !PyList_Check(result)) {
        (void)PyErr_Format(PyExc_TypeError,
                           "%s: the kernel returned %R, but the schema says %u returns", op_name,
                           (PyObject *)Py_TYPE(result), (unsigned)count);
        return false;
    }
    if (PySequence_Size(result) != (Py_ssize_t)count) {
        (void)PyErr_Format(PyExc_TypeError,
                           "%s: the kernel returned %zd values, but the schema says %u", op_name,
                           PySequence_Size(result), (unsigned)count);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(result, (Py_ssize_t)i);
        bool done = item != NULL && set_return(op_name, schema, frame, i, item);
        Py_XDECREF(item);
        if (!done) {
            return false;
        }
    }
    return true;
}
