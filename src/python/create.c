// keyway.empty(): tensors with memory of their own.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include "python/create.h"

#include "python/dtype.h"
#include "python/error.h"
#include "python/key.h"
#include "python/module.h"
#include "python/tensor.h"

// What empty() is given; NULL where it was not.
typedef struct wish_list {
    PyObject *shape;
    PyObject *dtype;
    PyObject *device;
    PyObject *strides;
    PyObject *layout;
    PyObject *inference;
    PyObject *keys;
} wish_list;

static bool is_given(PyObject *object)
{
    return object != NULL && object != Py_None;
}

static bool read_shape(const wish_list *wish, kwpy_creation *out)
{
    uint32_t count = 0;
    if (PyLong_Check(wish->shape)) {
        out->sizes[0] = PyLong_AsLongLong(wish->shape);
        count = 1;
        if (PyErr_Occurred()) {
            return false;
        }
    } else if (!kwpy_ints_from(wish->shape, out->sizes, &count)) {
        return false;
    }
    out->options.sizes = out->sizes;
    out->options.dim = count;
    if (!is_given(wish->strides)) {
        return true;
    }
    uint32_t stride_count = 0;
    if (!kwpy_ints_from(wish->strides, out->strides, &stride_count)) {
        return false;
    }
    if (stride_count != count) {
        PyErr_SetString(PyExc_ValueError, "shape and strides differ in their length");
        return false;
    }
    out->options.strides = out->strides;
    return true;
}

static bool read_all(const wish_list *wish, kwpy_creation *out)
{
    kw_tensor_options *options = &out->options;
    *options = (kw_tensor_options){
        .struct_size = sizeof *options, .dtype = KW_DTYPE_FLOAT32, .device = {KW_DEVICE_CPU, -1}};
    if (is_given(wish->inference)) {
        int inference = PyObject_IsTrue(wish->inference);
        options->inference = inference > 0 ? KW_INFERENCE_ALWAYS : KW_INFERENCE_NEVER;
    }
    return read_shape(wish, out) &&
           (!is_given(wish->dtype) || kwpy_dtype_from(wish->dtype, &options->dtype)) &&
           (!is_given(wish->layout) || kwpy_layout_from(wish->layout, &options->layout)) &&
           (!is_given(wish->device) || kwpy_device_from(wish->device, &options->device)) &&
           (!is_given(wish->keys) || kwpy_keyset_from(wish->keys, &options->keys));
}

bool kwpy_creation_parse(PyObject *args, PyObject *kwargs, kwpy_creation *out)
{
    static const char *const names[] = {"shape",  "dtype",     "device", "strides",
                                        "layout", "inference", "keys",   NULL};
    wish_list wish = {.shape = NULL};
    return PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOOOO:empty", KWPY_NAMES(names),
                                       &wish.shape, &wish.dtype, &wish.device, &wish.strides,
                                       &wish.layout, &wish.inference, &wish.keys) != 0 &&
           read_all(&wish, out);
}

static PyObject *empty(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    kwpy_creation creation;
    if (!kwpy_creation_parse(args, kwargs, &creation)) {
        return NULL;
    }
    kw_tensor *tensor = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_create(&creation.options, &tensor, &err);
    return status == KW_OK ? kwpy_tensor_wrap(tensor) : kwpy_raise(status, &err);
}

static PyMethodDef functions[] = {
    {"empty", KWPY_METHOD(empty), METH_VARARGS | METH_KEYWORDS,
     "empty(shape, *, dtype=None, device=None, strides=None, layout=None, inference=None, "
     "keys=None)\n--\n\nA tensor whose contents do not matter."},
    {NULL, NULL, 0, NULL},
};

bool kwpy_create_add(PyObject *module)
{
    return kwpy_functions_add(module, functions);
}
