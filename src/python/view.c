// The views and copies of the type Tensor.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include <keyway/tensor_view.h>

#include "python/dtype.h"
#include "python/error.h"
#include "python/module.h"
#include "python/tensor.h"

static kw_tensor *tensor_of(PyObject *self)
{
    return kwpy_tensor_get(self);
}

// The end of a function that made a tensor.
static PyObject *made(kw_status status, kw_tensor *take_tensor, const kw_error *err)
{
    return status == KW_OK ? kwpy_tensor_wrap(take_tensor) : kwpy_raise(status, err);
}

bool kwpy_ints_from(PyObject *object, int64_t *out_ints, uint32_t *out_count)
{
    PyObject *sequence = PySequence_Tuple(object);
    if (sequence == NULL) {
        return false;
    }
    Py_ssize_t count = PyTuple_Size(sequence);
    if (count > KW_TENSOR_DIM_MAX) {
        (void)PyErr_Format(PyExc_ValueError, "%zd numbers, and a tensor has %d dimensions at most",
                           count, KW_TENSOR_DIM_MAX);
        count = -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *number = PyNumber_Index(PyTuple_GetItem(sequence, i));
        out_ints[i] = number != NULL ? PyLong_AsLongLong(number) : -1;
        Py_XDECREF(number);
        if (out_ints[i] == -1 && PyErr_Occurred()) {
            count = -1;
        }
    }
    Py_DECREF(sequence);
    *out_count = count < 0 ? 0 : (uint32_t)count;
    return count >= 0;
}

bool kwpy_ints_from_args(PyObject *args, int64_t *out_ints, uint32_t *out_count)
{
    if (PyTuple_Size(args) == 1 && !PyLong_Check(PyTuple_GetItem(args, 0)) &&
        PySequence_Check(PyTuple_GetItem(args, 0))) {
        return kwpy_ints_from(PyTuple_GetItem(args, 0), out_ints, out_count);
    }
    return kwpy_ints_from(args, out_ints, out_count);
}

// Views by a list of integers.
typedef kw_status (*list_view)(kw_tensor *tensor, kw_int_list list, kw_tensor **out, kw_error *err);

static PyObject *view_of_list(PyObject *self, PyObject *args, list_view function)
{
    int64_t ints[KW_TENSOR_DIM_MAX];
    uint32_t count = 0;
    if (!kwpy_ints_from_args(args, ints, &count)) {
        return NULL;
    }
    kw_tensor *out = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = function(tensor_of(self), (kw_int_list){ints, count}, &out, &err);
    return made(status, out, &err);
}

static PyObject *view(PyObject *self, PyObject *args)
{
    return view_of_list(self, args, kw_tensor_view);
}

static PyObject *reshape(PyObject *self, PyObject *args)
{
    return view_of_list(self, args, kw_tensor_reshape);
}

static PyObject *permute(PyObject *self, PyObject *args)
{
    return view_of_list(self, args, kw_tensor_permute);
}

static PyObject *expand(PyObject *self, PyObject *args)
{
    return view_of_list(self, args, kw_tensor_expand);
}

// Views that need nothing.
typedef kw_status (*plain_view)(kw_tensor *tensor, kw_tensor **out, kw_error *err);

static PyObject *view_plainly(PyObject *self, plain_view function)
{
    kw_tensor *out = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = function(tensor_of(self), &out, &err);
    return made(status, out, &err);
}

static PyObject *alias(PyObject *self, PyObject *unused)
{
    (void)unused;
    return view_plainly(self, kw_tensor_alias);
}

static PyObject *detach(PyObject *self, PyObject *unused)
{
    (void)unused;
    return view_plainly(self, kw_tensor_detach);
}

PyObject *kwpy_tensor_reversed(PyObject *self, void *closure)
{
    (void)closure;
    int64_t dims[KW_TENSOR_DIM_MAX];
    uint32_t count = kw_tensor_dim(tensor_of(self));
    for (uint32_t i = 0; i < count; i++) {
        dims[i] = (int64_t)(count - 1 - i);
    }
    kw_tensor *out = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_permute(tensor_of(self), (kw_int_list){dims, count}, &out, &err);
    return made(status, out, &err);
}

static PyObject *select_at(PyObject *self, PyObject *args)
{
    long long dim = 0;
    long long index = 0;
    if (!PyArg_ParseTuple(args, "LL:select", &dim, &index)) {
        return NULL;
    }
    kw_tensor *out = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_select(tensor_of(self), dim, index, &out, &err);
    return made(status, out, &err);
}

static PyObject *slice(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"dim", "start", "end", "step", NULL};
    long long dim = 0;
    long long start = 0;
    PyObject *end_object = Py_None;
    long long step = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "L|LOL:slice", KWPY_NAMES(names), &dim, &start,
                                     &end_object, &step)) {
        return NULL;
    }
    int64_t end = KW_SLICE_END;
    if (end_object != Py_None) {
        end = PyLong_AsLongLong(end_object);
        if (end == -1 && PyErr_Occurred()) {
            return NULL;
        }
    }
    kw_tensor *out = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_slice(tensor_of(self), dim, start, end, step, &out, &err);
    return made(status, out, &err);
}

static PyObject *narrow(PyObject *self, PyObject *args)
{
    long long dim = 0;
    long long start = 0;
    long long length = 0;
    if (!PyArg_ParseTuple(args, "LLL:narrow", &dim, &start, &length)) {
        return NULL;
    }
    kw_tensor *out = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_narrow(tensor_of(self), dim, start, length, &out, &err);
    return made(status, out, &err);
}

static PyObject *transpose(PyObject *self, PyObject *args)
{
    long long dim_0 = 0;
    long long dim_1 = 0;
    if (!PyArg_ParseTuple(args, "LL:transpose", &dim_0, &dim_1)) {
        return NULL;
    }
    kw_tensor *out = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_transpose(tensor_of(self), dim_0, dim_1, &out, &err);
    return made(status, out, &err);
}

// Views by one dimension.
typedef kw_status (*dim_view)(kw_tensor *tensor, int64_t dim, kw_tensor **out, kw_error *err);

static PyObject *view_of_dim(PyObject *self, PyObject *object, dim_view function)
{
    int64_t dim = PyLong_AsLongLong(object);
    if (dim == -1 && PyErr_Occurred()) {
        return NULL;
    }
    kw_tensor *out = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = function(tensor_of(self), dim, &out, &err);
    return made(status, out, &err);
}

static PyObject *squeeze(PyObject *self, PyObject *dim)
{
    return view_of_dim(self, dim, kw_tensor_squeeze);
}

static PyObject *unsqueeze(PyObject *self, PyObject *dim)
{
    return view_of_dim(self, dim, kw_tensor_unsqueeze);
}

static PyObject *as_strided(PyObject *self, PyObject *args)
{
    PyObject *shape = NULL;
    PyObject *steps = NULL;
    long long offset = 0;
    int64_t sizes[KW_TENSOR_DIM_MAX];
    int64_t strides[KW_TENSOR_DIM_MAX];
    uint32_t size_count = 0;
    uint32_t stride_count = 0;
    if (!PyArg_ParseTuple(args, "OO|L:as_strided", &shape, &steps, &offset) ||
        !kwpy_ints_from(shape, sizes, &size_count) ||
        !kwpy_ints_from(steps, strides, &stride_count)) {
        return NULL;
    }
    kw_tensor *out = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status =
        kw_tensor_as_strided(tensor_of(self), (kw_int_list){sizes, size_count},
                             (kw_int_list){strides, stride_count}, offset, &out, &err);
    return made(status, out, &err);
}

// Copies. Large ones take their time, which other threads need not wait for.
// --------------------------------------------------------------------------------------------

static PyObject *clone(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"memory_format", NULL};
    PyObject *object = NULL;
    uint8_t format = KW_MEMORY_PRESERVE;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:clone", KWPY_NAMES(names), &object) ||
        (object != NULL && !kwpy_memory_format_from(object, &format))) {
        return NULL;
    }
    kw_tensor *out = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_tensor_clone(tensor_of(self), format, &out, &err);
    Py_END_ALLOW_THREADS;
    return made(status, out, &err);
}

static PyObject *contiguous(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"memory_format", NULL};
    PyObject *object = NULL;
    uint8_t format = KW_MEMORY_CONTIGUOUS;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:contiguous", KWPY_NAMES(names), &object) ||
        (object != NULL && !kwpy_memory_format_from(object, &format))) {
        return NULL;
    }
    kw_tensor *out = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_tensor_contiguous(tensor_of(self), format, &out, &err);
    Py_END_ALLOW_THREADS;
    if (status == KW_OK && out == tensor_of(self)) {
        kw_tensor_release(out);
        Py_INCREF(self);
        return self;
    }
    return made(status, out, &err);
}

static PyObject *copy(PyObject *self, PyObject *object)
{
    kw_tensor *source = kwpy_tensor_from(object);
    if (source == NULL) {
        return NULL;
    }
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_tensor_copy(tensor_of(self), source, &err);
    Py_END_ALLOW_THREADS;
    kw_tensor_release(source);
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    Py_INCREF(self);
    return self;
}

// Whether nobody but this object can have the address of the memory: it moves.
static bool is_alone(PyObject *self)
{
    kw_storage *storage = kw_tensor_storage(tensor_of(self));
    return ((kwpy_tensor *)self)->exports == 0 && kw_tensor_use_count(tensor_of(self)) == 1 &&
           (storage == NULL || kw_storage_use_count(storage) == 1);
}

static PyObject *resize(PyObject *self, PyObject *args)
{
    int64_t sizes[KW_TENSOR_DIM_MAX];
    uint32_t count = 0;
    if (!kwpy_ints_from_args(args, sizes, &count)) {
        return NULL;
    }
    if (!is_alone(self)) {
        return kwpy_raise_text(KW_BUSY, "the tensor's memory is shared or exported");
    }
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_resize(tensor_of(self), (kw_int_list){sizes, count}, &err);
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    Py_INCREF(self);
    return self;
}

#define WITH_NAMES (METH_VARARGS | METH_KEYWORDS)

PyMethodDef kwpy_view_methods[] = {
    {"alias", alias, METH_NOARGS, "alias($self)\n--\n\nA view of the same shape."},
    {"detach", detach, METH_NOARGS, "detach($self)\n--\n\nA view without autograd."},
    {"view", view, METH_VARARGS, "view($self, *shape)\n--\n\nA view of other sizes."},
    {"reshape", reshape, METH_VARARGS,
     "reshape($self, *shape)\n--\n\nOther sizes, with a copy where a view cannot be had."},
    {"permute", permute, METH_VARARGS, "permute($self, *dims)\n--\n\nDimensions in this order."},
    {"expand", expand, METH_VARARGS,
     "expand($self, *shape)\n--\n\nA view that repeats dimensions of size 1."},
    {"select", select_at, METH_VARARGS, "select($self, dim, index, /)\n--\n\nOne element of dim."},
    {"slice", KWPY_METHOD(slice), WITH_NAMES,
     "slice($self, dim, start=0, end=None, step=1)\n--\n\nSome elements of dim."},
    {"narrow", narrow, METH_VARARGS,
     "narrow($self, dim, start, length, /)\n--\n\nExactly length elements of dim."},
    {"transpose", transpose, METH_VARARGS,
     "transpose($self, dim0, dim1, /)\n--\n\nTwo dimensions exchanged."},
    {"squeeze", squeeze, METH_O, "squeeze($self, dim, /)\n--\n\nWithout a dimension of size 1."},
    {"unsqueeze", unsqueeze, METH_O, "unsqueeze($self, dim, /)\n--\n\nWith one of size 1."},
    {"as_strided", as_strided, METH_VARARGS,
     "as_strided($self, shape, strides, storage_offset=0, /)\n--\n\nAny view in the storage."},
    {"clone", KWPY_METHOD(clone), WITH_NAMES, "clone($self, memory_format=1)\n--\n\nA copy."},
    {"contiguous", KWPY_METHOD(contiguous), WITH_NAMES,
     "contiguous($self, memory_format=0)\n--\n\nThe tensor itself, or a copy in this order."},
    {"copy_", copy, METH_O, "copy_($self, source, /)\n--\n\nWrites the elements of the source."},
    {"resize_", resize, METH_VARARGS, "resize_($self, *shape)\n--\n\nOther sizes, in place."},
    {NULL, NULL, 0, NULL},
};
