// Buffers: the buffer protocol of the type Tensor, and tensors over buffers of others.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; what a buffer holds is given back on any thread.
// SPDX-License-Identifier: MIT

#include <stdlib.h>
#include <string.h>

#include <keyway/tensor.h>

#include "python/error.h"
#include "python/gate.h"
#include "python/module.h"
#include "python/tensor.h"

// Codes of the module struct for elements, and Z for complex numbers, which NumPy knows.
typedef struct format {
    uint8_t dtype;
    const char *code;
} format;

static const format formats[] = {
    {KW_DTYPE_UINT8, "B"},
    {KW_DTYPE_INT8, "b"},
    {KW_DTYPE_INT16, "h"},
    {KW_DTYPE_INT32, "i"},
    {KW_DTYPE_INT64, "q"},
    {KW_DTYPE_FLOAT16, "e"},
    {KW_DTYPE_FLOAT32, "f"},
    {KW_DTYPE_FLOAT64, "d"},
    {KW_DTYPE_COMPLEX64, "Zf"},
    {KW_DTYPE_COMPLEX128, "Zd"},
    {KW_DTYPE_BOOL, "?"},
    {KW_DTYPE_UINT16, "H"},
    {KW_DTYPE_UINT32, "I"},
    {KW_DTYPE_UINT64, "Q"},
    // Other names for the same; the first one is what is written.
    {KW_DTYPE_INT64, "l"},
    {KW_DTYPE_UINT64, "L"},
    {KW_DTYPE_UINT8, "c"},
    {KW_DTYPE_INT64, "n"},
    {KW_DTYPE_UINT64, "N"},
};
#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

static const char *code_of(uint8_t dtype)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (formats[i].dtype == dtype) {
            return formats[i].code;
        }
    }
    return NULL;
}

// Export
// --------------------------------------------------------------------------------------------

// Why a tensor has no buffer; NULL: it may have one.
static const char *obstacle(const kw_tensor *tensor, int flags)
{
    kw_storage *storage = kw_tensor_storage(tensor);
    if (!kw_tensor_is_defined(tensor) || !kw_tensor_is_on(tensor, KW_DEVICE_CPU) ||
        kw_tensor_layout(tensor) != KW_LAYOUT_STRIDED || storage == NULL) {
        return "only a strided tensor on the CPU has a buffer";
    }
    if (kw_tensor_is_symbolic(tensor)) {
        return "a tensor with a symbolic shape has no buffer";
    }
    if (kw_tensor_is_conj(tensor) || kw_tensor_is_neg(tensor)) {
        return "a tensor with the conjugate or negative bit has no buffer: its memory says "
               "something else";
    }
    if (code_of(kw_tensor_dtype(tensor)) == NULL) {
        return "the buffer protocol has no code for the element type";
    }
    if ((flags & PyBUF_WRITABLE) != 0 && kw_storage_is_read_only(storage)) {
        return "the tensor's memory is read-only";
    }
    bool any_strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
    bool c_order = (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS || !any_strides;
    if (c_order && !kw_tensor_is_contiguous(tensor)) {
        return "the tensor is not contiguous";
    }
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && kw_tensor_dim(tensor) > 1) {
        return "the tensor is not in Fortran's order";
    }
    return NULL;
}

// Sizes, then strides in bytes; freed with the buffer.
static Py_ssize_t *shape_of(const kw_tensor *tensor, Py_ssize_t item_bytes)
{
    uint32_t dim = kw_tensor_dim(tensor);
    Py_ssize_t *shape = malloc((2 * (size_t)dim + 1) * sizeof *shape);
    for (uint32_t i = 0; shape != NULL && i < dim; i++) {
        shape[i] = (Py_ssize_t)kw_tensor_sizes(tensor)[i];
        shape[dim + i] = (Py_ssize_t)kw_tensor_strides(tensor)[i] * item_bytes;
    }
    return shape;
}

int kwpy_tensor_get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    kw_tensor *tensor = kwpy_tensor_get(self);
    view->obj = NULL;
    const char *why = obstacle(tensor, flags);
    if (why != NULL) {
        PyErr_SetString(PyExc_BufferError, why);
        return -1;
    }
    Py_ssize_t item_bytes = (Py_ssize_t)kw_dtype_bytes(kw_tensor_dtype(tensor));
    Py_ssize_t *shape = shape_of(tensor, item_bytes);
    if (shape == NULL) {
        (void)PyErr_NoMemory();
        return -1;
    }
    uint32_t dim = kw_tensor_dim(tensor);
    memset(view, 0, sizeof *view);
    view->buf = (void *)(uintptr_t)kw_tensor_data(tensor);
    view->len = (Py_ssize_t)kw_tensor_numel(tensor) * item_bytes;
    view->itemsize = item_bytes;
    view->readonly = kw_storage_is_read_only(kw_tensor_storage(tensor));
    view->ndim = (int)dim;
    // `format` is not const by oversight of the interface; nobody writes it.
    view->format =
        (flags & PyBUF_FORMAT) != 0 ? (char *)(uintptr_t)code_of(kw_tensor_dtype(tensor)) : NULL;
    view->shape = (flags & PyBUF_ND) != 0 ? shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? shape + dim : NULL;
    view->internal = shape;
    Py_INCREF(self);
    view->obj = self;
    ((kwpy_tensor *)self)->exports++;
    return 0;
}

void kwpy_tensor_release_buffer(PyObject *self, Py_buffer *view)
{
    ((kwpy_tensor *)self)->exports--;
    free(view->internal);
}

// Import
// --------------------------------------------------------------------------------------------

static void release(void *context)
{
    Py_buffer *view = context;
    PyGILState_STATE state;
    if (kwpy_enter(&state)) {
        PyBuffer_Release(view);
        kwpy_leave(state);
        free(view);
    }
}

static bool dtype_of(const Py_buffer *view, uint8_t *out_dtype)
{
    const char *code = view->format != NULL ? view->format : "B";
    code += *code == '@' || *code == '=' || *code == '<' ? 1 : 0; // this machine's order
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (strcmp(formats[i].code, code) == 0 &&
            (Py_ssize_t)kw_dtype_bytes(formats[i].dtype) == view->itemsize) {
            *out_dtype = formats[i].dtype;
            return true;
        }
    }
    (void)PyErr_Format(PyExc_BufferError, "no element type has the buffer's format '%s'", code);
    return false;
}

// The shape of a buffer in elements, and how far it reaches.
typedef struct extent {
    int64_t sizes[KW_TENSOR_DIM_MAX];
    int64_t strides[KW_TENSOR_DIM_MAX];
    size_t bytes;
} extent;

static bool measure(const Py_buffer *view, extent *out_extent)
{
    if (view->ndim > KW_TENSOR_DIM_MAX) {
        PyErr_SetString(PyExc_BufferError, "the buffer has too many dimensions");
        return false;
    }
    size_t last = 0;
    bool is_empty = false;
    for (int i = 0; i < view->ndim; i++) {
        if (view->strides[i] < 0 || view->strides[i] % view->itemsize != 0) {
            PyErr_SetString(PyExc_BufferError, "a stride of the buffer is negative, or not a "
                                               "multiple of the element's bytes");
            return false;
        }
        out_extent->sizes[i] = view->shape[i];
        out_extent->strides[i] = view->strides[i] / view->itemsize;
        is_empty = is_empty || view->shape[i] == 0;
        last += view->shape[i] > 0 ? (size_t)((view->shape[i] - 1) * view->strides[i]) : 0;
    }
    out_extent->bytes = is_empty ? 0 : last + (size_t)view->itemsize;
    return true;
}

// Makes the tensor; its storage owns the buffer on success.
static kw_tensor *make(Py_buffer *take_view, uint8_t dtype, const extent *reach)
{
    const kw_external_memory memory = {.struct_size = sizeof memory,
                                       .data = take_view->buf,
                                       .device = {KW_DEVICE_CPU, -1},
                                       .bytes = reach->bytes,
                                       .read_only = take_view->readonly != 0,
                                       .destroy = release,
                                       .context = take_view};
    kw_storage *storage = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_storage_wrap(&memory, &storage, &err);
    if (status != KW_OK) {
        PyBuffer_Release(take_view);
        free(take_view);
        (void)kwpy_raise(status, &err);
        return NULL;
    }
    const kw_tensor_options options = {.struct_size = sizeof options,
                                       .sizes = reach->sizes,
                                       .dim = (uint32_t)take_view->ndim,
                                       .dtype = dtype,
                                       .device = {KW_DEVICE_CPU, -1},
                                       .strides = reach->strides,
                                       .storage = storage};
    kw_tensor *tensor = NULL;
    status = kw_tensor_create(&options, &tensor, &err);
    kw_storage_release(storage);
    if (status != KW_OK) {
        (void)kwpy_raise(status, &err);
        return NULL;
    }
    return tensor;
}

kw_tensor *kwpy_tensor_from_buffer(PyObject *object)
{
    Py_buffer *view = malloc(sizeof *view);
    if (view == NULL) {
        return (kw_tensor *)PyErr_NoMemory();
    }
    if (PyObject_GetBuffer(object, view, PyBUF_RECORDS_RO) != 0) {
        free(view);
        return NULL;
    }
    uint8_t dtype = 0;
    extent reach;
    if (!dtype_of(view, &dtype) || !measure(view, &reach)) {
        PyBuffer_Release(view);
        free(view);
        return NULL;
    }
    return make(view, dtype, &reach);
}
