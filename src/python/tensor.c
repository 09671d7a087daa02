// The type Tensor: Python's objects for reference tensors, and what they say of themselves.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include "python/tensor.h"

#include <stddef.h>

#include <keyway/tensor_view.h>

#include "python/dtype.h"
#include "python/error.h"
#include "python/key.h"
#include "python/module.h"
#include "python/pack.h"
#include "python/subclass.h"

static kw_tensor *tensor_of(PyObject *self)
{
    return kwpy_tensor_get(self);
}

bool kwpy_tensor_check(PyObject *object)
{
    return PyObject_TypeCheck(object, kwpy.tensor);
}

kw_tensor *kwpy_tensor_of(PyObject *object)
{
    if (!kwpy_tensor_check(object)) {
        (void)PyErr_Format(PyExc_TypeError, "expected a Tensor, but got %R",
                           (PyObject *)Py_TYPE(object));
        return NULL;
    }
    return tensor_of(object);
}

PyObject *kwpy_tensor_wrap(kw_tensor *take_tensor)
{
    PyObject *self = kwpy_identity_find(take_tensor);
    if (self != NULL) {
        return self;
    }
    self = PyType_GenericAlloc(kwpy.tensor, 0);
    if (self == NULL) {
        kw_tensor_release(take_tensor);
        return NULL;
    }
    ((kwpy_tensor *)self)->tensor = take_tensor;
    if (!kwpy_identity_bind(self)) {
        Py_CLEAR(self);
    }
    return self;
}

static void tensor_free(PyObject *self)
{
    // An instance of a subclass has been asked before its attributes went.
    if (Py_TYPE(self) == kwpy.tensor && kwpy_identity_survives(self)) {
        return;
    }
    if (((kwpy_tensor *)self)->weakrefs != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    kwpy_identity_end(self);
    kwpy_type_free(self);
}

static PyObject *tensor_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    return PyErr_Format(PyExc_TypeError,
                        "%R is not called: use keyway.empty, from_dlpack, from_buffer or asarray",
                        (PyObject *)type);
}

// What a tensor says of itself
// --------------------------------------------------------------------------------------------

PyObject *kwpy_ints_new(const int64_t *ints, uint32_t count)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (uint32_t i = 0; tuple != NULL && i < count; i++) {
        kwpy_tuple_put(&tuple, (Py_ssize_t)i, PyLong_FromLongLong(ints[i]));
    }
    return tuple;
}

static PyObject *refuse_symbolic(void)
{
    return kwpy_raise_text(KW_SYMBOLIC_VALUE, "the tensor has a symbolic shape");
}

static PyObject *tensor_shape(PyObject *self, void *closure)
{
    (void)closure;
    const kw_tensor *tensor = tensor_of(self);
    if (kw_tensor_is_symbolic(tensor)) {
        return refuse_symbolic();
    }
    return kwpy_ints_new(kw_tensor_sizes(tensor), kw_tensor_dim(tensor));
}

static PyObject *tensor_strides(PyObject *self, void *closure)
{
    (void)closure;
    const kw_tensor *tensor = tensor_of(self);
    if (kw_tensor_is_symbolic(tensor)) {
        return refuse_symbolic();
    }
    return kwpy_ints_new(kw_tensor_strides(tensor), kw_tensor_dim(tensor));
}

// The numbers that a tensor has, by the closure of the property.
typedef enum number {
    NUMBER_OFFSET,
    NUMBER_DIM,
    NUMBER_SIZE,
    NUMBER_ITEM_BYTES,
    NUMBER_BYTES,
    NUMBER_USE_COUNT,
    NUMBER_DATA,
    NUMBER_ADDRESS
} number;

static const number numbers[] = {NUMBER_OFFSET, NUMBER_DIM,       NUMBER_SIZE, NUMBER_ITEM_BYTES,
                                 NUMBER_BYTES,  NUMBER_USE_COUNT, NUMBER_DATA, NUMBER_ADDRESS};
#define CLOSURE(name) ((void *)(uintptr_t)&numbers[NUMBER_##name])

static PyObject *tensor_number(PyObject *self, void *closure)
{
    const kw_tensor *tensor = tensor_of(self);
    int64_t item_bytes = (int64_t)kw_dtype_bytes(kw_tensor_dtype(tensor));
    switch (*(const number *)closure) {
    case NUMBER_OFFSET:
        return PyLong_FromLongLong(kw_tensor_storage_offset(tensor));
    case NUMBER_DIM:
        return PyLong_FromUnsignedLong(kw_tensor_dim(tensor));
    case NUMBER_SIZE:
        return PyLong_FromLongLong(kw_tensor_numel(tensor));
    case NUMBER_ITEM_BYTES:
        return PyLong_FromLongLong(item_bytes);
    case NUMBER_BYTES:
        return PyLong_FromLongLong(kw_tensor_numel(tensor) * item_bytes);
    case NUMBER_USE_COUNT:
        return PyLong_FromUnsignedLong(kw_tensor_use_count(tensor));
    case NUMBER_DATA:
        return PyLong_FromVoidPtr((void *)(uintptr_t)kw_tensor_data(tensor));
    case NUMBER_ADDRESS:
        break;
    }
    return PyLong_FromVoidPtr(tensor_of(self));
}

static PyObject *tensor_dtype(PyObject *self, void *closure)
{
    (void)closure;
    return kwpy_dtype_new(kw_tensor_dtype(tensor_of(self)));
}

static PyObject *tensor_layout(PyObject *self, void *closure)
{
    (void)closure;
    return kwpy_layout_new(kw_tensor_layout(tensor_of(self)));
}

static PyObject *tensor_device(PyObject *self, void *closure)
{
    (void)closure;
    return kwpy_device_new(kw_tensor_device(tensor_of(self)));
}

static PyObject *tensor_keys(PyObject *self, void *closure)
{
    (void)closure;
    return kwpy_keyset_new(kw_tensor_keyset(tensor_of(self)));
}

static PyObject *tensor_version(PyObject *self, void *closure)
{
    (void)closure;
    uint32_t version = 0;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_version(tensor_of(self), &version, &err);
    return status == KW_OK ? PyLong_FromUnsignedLong(version) : kwpy_raise(status, &err);
}

static PyObject *tensor_read_only(PyObject *self, void *closure)
{
    (void)closure;
    kw_storage *storage = kw_tensor_storage(tensor_of(self));
    return PyBool_FromLong(storage != NULL && kw_storage_is_read_only(storage));
}

static PyObject *tensor_is_view(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(kw_tensor_is_view(tensor_of(self)));
}

static PyObject *tensor_is_inference(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(kw_tensor_is_inference(tensor_of(self)));
}

static PyObject *tensor_is_contiguous(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"memory_format", NULL};
    PyObject *object = NULL;
    uint8_t format = KW_MEMORY_CONTIGUOUS;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:is_contiguous", KWPY_NAMES(names),
                                     &object) ||
        (object != NULL && !kwpy_memory_format_from(object, &format))) {
        return NULL;
    }
    return PyBool_FromLong(kw_tensor_is_contiguous_as(tensor_of(self), format));
}

static PyObject *tensor_shares_storage(PyObject *self, PyObject *other)
{
    const kw_tensor *tensor = kwpy_tensor_of(other);
    if (tensor == NULL) {
        return NULL;
    }
    kw_storage *storage = kw_tensor_storage(tensor_of(self));
    return PyBool_FromLong(storage != NULL && storage == kw_tensor_storage(tensor));
}

// Changes
// --------------------------------------------------------------------------------------------

static PyObject *tensor_bump_version(PyObject *self, PyObject *unused)
{
    (void)unused;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_bump_version(tensor_of(self), &err);
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    Py_RETURN_NONE;
}

static PyObject *tensor_change_keys(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"add", "remove", NULL};
    kw_keyset added = kw_keyset_empty();
    kw_keyset removed = kw_keyset_empty();
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O&O&:change_keys", KWPY_NAMES(names),
                                     kwpy_keyset_converter, &added, kwpy_keyset_converter,
                                     &removed)) {
        return NULL;
    }
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_change_keys(tensor_of(self), added, removed, &err);
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    Py_RETURN_NONE;
}

// The type
// --------------------------------------------------------------------------------------------

static PyObject *tensor_repr(PyObject *self)
{
    const kw_tensor *tensor = tensor_of(self);
    PyObject *type = PyType_GetName(Py_TYPE(self));
    if (type == NULL || !kw_tensor_is_defined(tensor)) {
        PyObject *text = type != NULL ? PyUnicode_FromFormat("%U(undefined)", type) : NULL;
        Py_XDECREF(type);
        return text;
    }
    PyObject *shape =
        kw_tensor_is_symbolic(tensor) ? PyUnicode_FromString("symbolic") : tensor_shape(self, NULL);
    PyObject *device = tensor_device(self, NULL);
    PyObject *text = NULL;
    if (shape != NULL && device != NULL) {
        const char *dtype = kw_dtype_name(kw_tensor_dtype(tensor));
        const char *layout = kw_layout_name(kw_tensor_layout(tensor));
        text = kw_tensor_layout(tensor) == KW_LAYOUT_STRIDED
                   ? PyUnicode_FromFormat("%U(shape=%S, dtype=%s, device='%S')", type, shape, dtype,
                                          device)
                   : PyUnicode_FromFormat("%U(shape=%S, dtype=%s, device='%S', layout=%s)", type,
                                          shape, dtype, device, layout);
    }
    Py_DECREF(type);
    Py_XDECREF(shape);
    Py_XDECREF(device);
    return text;
}

static PyObject *tensor_compare(PyObject *self, PyObject *other, int operation)
{
    if (!kwpy_tensor_check(self) || !kwpy_tensor_check(other) ||
        (operation != Py_EQ && operation != Py_NE)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    bool same = tensor_of(self) == tensor_of(other);
    return PyBool_FromLong(same == (operation == Py_EQ));
}

static Py_hash_t tensor_hash(PyObject *self)
{
    return (Py_hash_t)((uintptr_t)tensor_of(self) >> 6);
}

static Py_ssize_t tensor_length(PyObject *self)
{
    const kw_tensor *tensor = tensor_of(self);
    if (kw_tensor_dim(tensor) == 0) {
        PyErr_SetString(PyExc_TypeError, "a tensor without dimensions has no len()");
        return -1;
    }
    if (kw_tensor_is_symbolic(tensor)) {
        (void)refuse_symbolic();
        return -1;
    }
    return (Py_ssize_t)kw_tensor_sizes(tensor)[0];
}

// For iteration, which ends with an IndexError.
static PyObject *tensor_at(PyObject *self, Py_ssize_t index)
{
    PyObject *position = PyLong_FromSsize_t(index);
    PyObject *item = position != NULL ? kwpy_tensor_get_item(self, position) : NULL;
    Py_XDECREF(position);
    return item;
}

// Without it every tensor would be true, or be asked for its length.
static int tensor_bool(PyObject *self)
{
    PyObject *value = kwpy_tensor_item(self, NULL);
    int truth = value != NULL ? PyObject_IsTrue(value) : -1;
    Py_XDECREF(value);
    return truth;
}

static PyMethodDef methods[] = {
    {"is_contiguous", KWPY_METHOD(tensor_is_contiguous), METH_VARARGS | METH_KEYWORDS,
     "is_contiguous($self, memory_format=0)\n--\n\nWhether the elements lie in this order."},
    {"shares_storage", tensor_shares_storage, METH_O,
     "shares_storage($self, other, /)\n--\n\nWhether both have the same storage."},
    {"bump_version", tensor_bump_version, METH_NOARGS,
     "bump_version($self)\n--\n\nCounts one more write in place."},
    {"change_keys", KWPY_METHOD(tensor_change_keys), METH_VARARGS | METH_KEYWORDS,
     "change_keys($self, add=(), remove=())\n--\n\nAdds or takes away functionality keys."},
    {"item", kwpy_tensor_item, METH_NOARGS,
     "item($self)\n--\n\nThe one element as a Python number."},
    {"tolist", kwpy_tensor_to_list, METH_NOARGS,
     "tolist($self)\n--\n\nThe elements as nested lists."},
    {"__dlpack__", KWPY_METHOD(kwpy_tensor_dlpack), METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A capsule that shares the memory."},
    {"__dlpack_device__", kwpy_tensor_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self)\n--\n\nDLPack's numbers of the device."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"shape", tensor_shape, NULL, "The sizes.", NULL},
    {"strides", tensor_strides, NULL, "The strides, in elements.", NULL},
    {"storage_offset", tensor_number, NULL, "The first element's place in the storage.",
     CLOSURE(OFFSET)},
    {"ndim", tensor_number, NULL, "The number of dimensions.", CLOSURE(DIM)},
    {"size", tensor_number, NULL, "The number of elements.", CLOSURE(SIZE)},
    {"itemsize", tensor_number, NULL, "Bytes of an element.", CLOSURE(ITEM_BYTES)},
    {"nbytes", tensor_number, NULL, "Bytes of the elements.", CLOSURE(BYTES)},
    {"use_count", tensor_number, NULL, "References to the C tensor.", CLOSURE(USE_COUNT)},
    {"data_ptr", tensor_number, NULL, "The address of the first element; 0: no memory.",
     CLOSURE(DATA)},
    {"address", tensor_number, NULL, "The address of the C tensor.", CLOSURE(ADDRESS)},
    {"dtype", tensor_dtype, NULL, "The element type.", NULL},
    {"layout", tensor_layout, NULL, "The layout.", NULL},
    {"device", tensor_device, NULL, "The device.", NULL},
    {"keys", tensor_keys, NULL, "The key set.", NULL},
    {"version", tensor_version, NULL, "How often the elements were written in place.", NULL},
    {"T", kwpy_tensor_reversed, NULL, "A view with the dimensions in reverse.", NULL},
    {"readonly", tensor_read_only, NULL, "Whether the memory may not be written.", NULL},
    {"is_view", tensor_is_view, NULL, "Whether a view function made it.", NULL},
    {"is_inference", tensor_is_inference, NULL, "Whether it is without autograd.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef all_methods[48];
static PyMethodDef with_subclass[52];

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(kwpy_tensor, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, KWPY_TEXT("A reference tensor: metadata over shared memory.")},
    {Py_tp_new, KWPY_SLOT(tensor_make)},
    {Py_tp_dealloc, KWPY_SLOT(tensor_free)},
    {Py_tp_finalize, KWPY_SLOT(kwpy_identity_finalize)},
    {Py_tp_repr, KWPY_SLOT(tensor_repr)},
    {Py_tp_hash, KWPY_SLOT(tensor_hash)},
    {Py_tp_richcompare, KWPY_SLOT(tensor_compare)},
    {Py_tp_methods, with_subclass},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {Py_nb_bool, KWPY_SLOT(tensor_bool)},
    {Py_sq_item, KWPY_SLOT(tensor_at)},
    {Py_mp_length, KWPY_SLOT(tensor_length)},
    {Py_mp_subscript, KWPY_SLOT(kwpy_tensor_get_item)},
    {Py_mp_ass_subscript, KWPY_SLOT(kwpy_tensor_set_item)},
    {Py_bf_getbuffer, KWPY_SLOT(kwpy_tensor_get_buffer)},
    {Py_bf_releasebuffer, KWPY_SLOT(kwpy_tensor_release_buffer)},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "keyway.Tensor",
    .basicsize = sizeof(kwpy_tensor),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

static PyObject *undefined(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return kwpy_tensor_wrap(kw_tensor_undefined());
}

static PyObject *asarray(PyObject *module, PyObject *object)
{
    (void)module;
    if (kwpy_tensor_check(object)) {
        Py_INCREF(object);
        return object;
    }
    kw_tensor *tensor = kwpy_tensor_from(object);
    return tensor != NULL ? kwpy_tensor_wrap(tensor) : NULL;
}

static PyObject *from_dlpack(PyObject *module, PyObject *object)
{
    (void)module;
    kw_tensor *tensor = kwpy_tensor_from_dlpack(object);
    return tensor != NULL ? kwpy_tensor_wrap(tensor) : NULL;
}

static PyObject *from_buffer(PyObject *module, PyObject *object)
{
    (void)module;
    kw_tensor *tensor = kwpy_tensor_from_buffer(object);
    return tensor != NULL ? kwpy_tensor_wrap(tensor) : NULL;
}

static PyMethodDef functions[] = {
    {"undefined", undefined, METH_NOARGS, "undefined()\n--\n\nThe undefined tensor."},
    {"asarray", asarray, METH_O,
     "asarray(source, /)\n--\n\nA tensor over the memory of the source; never a copy."},
    {"from_dlpack", from_dlpack, METH_O,
     "from_dlpack(source, /)\n--\n\nA tensor over the memory of an object with __dlpack__, or of "
     "a capsule."},
    {"from_buffer", from_buffer, METH_O,
     "from_buffer(source, /)\n--\n\nA tensor over the memory of a buffer."},
    {NULL, NULL, 0, NULL},
};

bool kwpy_tensor_add(PyObject *module)
{
    return kwpy_methods_join(all_methods, sizeof all_methods / sizeof all_methods[0], methods,
                             kwpy_view_methods) &&
           kwpy_methods_join(with_subclass, sizeof with_subclass / sizeof with_subclass[0],
                             all_methods, kwpy_subclass_methods) &&
           kwpy_type_add(module, &spec, &kwpy.tensor) && kwpy_functions_add(module, functions);
}
