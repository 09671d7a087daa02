// The type KeySet: an immutable set of keys with its algebra.
//
// Layer:   python (public headers only)
// Threads: any; a set never changes.
// SPDX-License-Identifier: MIT

#include "python/error.h"
#include "python/key.h"
#include "python/module.h"
#include "python/pack.h"

// The longest text of a set: 137 keys of at most 48 characters.
#define TEXT_BYTES 8192

typedef struct keyset_object {
    PyObject base;
    kw_keyset keys; // guard: immutable
} keyset_object;

static kw_keyset keys_of(PyObject *object)
{
    return ((keyset_object *)object)->keys;
}

static bool is_keyset(PyObject *object)
{
    return Py_TYPE(object) == kwpy.keyset;
}

PyObject *kwpy_keyset_new(kw_keyset keys)
{
    PyObject *object = PyType_GenericAlloc(kwpy.keyset, 0);
    if (object != NULL) {
        ((keyset_object *)object)->keys = keys;
    }
    return object;
}

static bool parse(PyObject *object, kw_keyset *out_keys)
{
    const char *text = PyUnicode_AsUTF8AndSize(object, NULL);
    kw_error err = KW_ERROR_INIT;
    kw_status status = text != NULL ? kw_keyset_parse(text, out_keys, &err) : KW_OK;
    if (status != KW_OK) {
        (void)kwpy_raise(status, &err);
    }
    return text != NULL && status == KW_OK;
}

static bool add_each(PyObject *iterable, kw_keyset *out_keys)
{
    PyObject *iterator = PyObject_GetIter(iterable);
    if (iterator == NULL) {
        PyErr_Clear();
        (void)PyErr_Format(PyExc_TypeError, "keys are a KeySet, a Key, a name or several, not %R",
                           (PyObject *)Py_TYPE(iterable));
        return false;
    }
    kw_keyset keys = kw_keyset_empty();
    for (PyObject *item; (item = PyIter_Next(iterator)) != NULL;) {
        kw_key key = KW_KEY_Undefined;
        bool done = kwpy_key_from(item, &key);
        Py_DECREF(item);
        if (!done) {
            break;
        }
        keys = kw_keyset_add(keys, key);
    }
    Py_DECREF(iterator);
    *out_keys = keys;
    return !PyErr_Occurred();
}

bool kwpy_keyset_from(PyObject *object, kw_keyset *out_keys)
{
    if (is_keyset(object)) {
        *out_keys = keys_of(object);
        return true;
    }
    if (PyUnicode_Check(object)) {
        return parse(object, out_keys);
    }
    if (PyLong_Check(object)) {
        kw_key key = KW_KEY_Undefined;
        if (!kwpy_key_from(object, &key)) {
            return false;
        }
        *out_keys = kw_keyset_from_key(key);
        return true;
    }
    return add_each(object, out_keys);
}

int kwpy_keyset_converter(PyObject *object, void *out_keys)
{
    return kwpy_keyset_from(object, (kw_keyset *)out_keys) ? 1 : 0;
}

static PyObject *keyset_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type;
    static const char *const names[] = {"", "bits", NULL};
    PyObject *source = NULL;
    PyObject *bits = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$O:KeySet", KWPY_NAMES(names), &source,
                                     &bits)) {
        return NULL;
    }
    kw_keyset keys = kw_keyset_empty();
    if (source != NULL && !kwpy_keyset_from(source, &keys)) {
        return NULL;
    }
    if (bits != Py_None) {
        unsigned long long word = PyLong_AsUnsignedLongLong(bits);
        if (PyErr_Occurred()) {
            return NULL;
        }
        if (word >> 63 != 0) {
            return PyErr_Format(PyExc_ValueError, "bit 63 belongs to no key");
        }
        keys = kw_keyset_union(keys, kw_keyset_from_bits(word));
    }
    return kwpy_keyset_new(keys);
}

static PyObject *keyset_repr(PyObject *self)
{
    char text[TEXT_BYTES];
    (void)kw_keyset_format(keys_of(self), text, sizeof text);
    return PyUnicode_FromFormat("KeySet('%s')", text);
}

static PyObject *keyset_text(PyObject *self)
{
    char text[TEXT_BYTES];
    (void)kw_keyset_format(keys_of(self), text, sizeof text);
    return PyUnicode_FromString(text);
}

static Py_hash_t keyset_hash(PyObject *self)
{
    Py_hash_t hash = (Py_hash_t)keys_of(self).bits;
    return hash == -1 ? -2 : hash;
}

static PyObject *keyset_compare(PyObject *self, PyObject *other, int operation)
{
    if (!is_keyset(self) || !is_keyset(other)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    kw_keyset a = keys_of(self);
    kw_keyset b = keys_of(other);
    bool equal = kw_keyset_equal(a, b);
    switch (operation) {
    case Py_EQ:
        return PyBool_FromLong(equal);
    case Py_NE:
        return PyBool_FromLong(!equal);
    case Py_LE:
        return PyBool_FromLong(kw_keyset_has_all(b, a));
    case Py_LT:
        return PyBool_FromLong(kw_keyset_has_all(b, a) && !equal);
    case Py_GE:
        return PyBool_FromLong(kw_keyset_has_all(a, b));
    default:
        return PyBool_FromLong(kw_keyset_has_all(a, b) && !equal);
    }
}

// One of the functions of two sets, for operators whose operands may be anything with keys.
typedef kw_keyset (*algebra)(kw_keyset a, kw_keyset b);

static PyObject *combine(PyObject *left, PyObject *right, algebra function)
{
    kw_keyset a = kw_keyset_empty();
    kw_keyset b = kw_keyset_empty();
    if (!kwpy_keyset_from(left, &a) || !kwpy_keyset_from(right, &b)) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            Py_RETURN_NOTIMPLEMENTED;
        }
        return NULL;
    }
    return kwpy_keyset_new(function(a, b));
}

static PyObject *keyset_or(PyObject *left, PyObject *right)
{
    return combine(left, right, kw_keyset_union);
}

static PyObject *keyset_and(PyObject *left, PyObject *right)
{
    return combine(left, right, kw_keyset_intersection);
}

static PyObject *keyset_xor(PyObject *left, PyObject *right)
{
    return combine(left, right, kw_keyset_xor);
}

static PyObject *keyset_subtract(PyObject *left, PyObject *right)
{
    return combine(left, right, kw_keyset_difference);
}

static int keyset_bool(PyObject *self)
{
    return kw_keyset_is_empty(keys_of(self)) ? 0 : 1;
}

static Py_ssize_t keyset_length(PyObject *self)
{
    return (Py_ssize_t)kw_keyset_count(keys_of(self));
}

static int keyset_contains(PyObject *self, PyObject *item)
{
    kw_key key = KW_KEY_Undefined;
    if (!kwpy_key_from(item, &key)) {
        return -1;
    }
    return kw_keyset_has(keys_of(self), key) ? 1 : 0;
}

static PyObject *keyset_iterate(PyObject *self)
{
    PyObject *list = PyList_New(0);
    kw_keyset_iterator iterator = kw_keyset_iterator_begin(keys_of(self));
    for (kw_key key; list != NULL && kw_keyset_iterator_next(&iterator, &key);) {
        kwpy_list_add(&list, kwpy_key_new(key));
    }
    PyObject *result = list != NULL ? PyObject_GetIter(list) : NULL;
    Py_XDECREF(list);
    return result;
}

static PyObject *keyset_add(PyObject *self, PyObject *other)
{
    kw_keyset keys = kw_keyset_empty();
    return kwpy_keyset_from(other, &keys) ? kwpy_keyset_new(kw_keyset_union(keys_of(self), keys))
                                          : NULL;
}

static PyObject *keyset_remove(PyObject *self, PyObject *other)
{
    kw_keyset keys = kw_keyset_empty();
    return kwpy_keyset_from(other, &keys)
               ? kwpy_keyset_new(kw_keyset_difference(keys_of(self), keys))
               : NULL;
}

static PyObject *keyset_remove_backend(PyObject *self, PyObject *name)
{
    kw_backend backend = KW_BACKEND_INVALID;
    return kwpy_backend_from(name, &backend)
               ? kwpy_keyset_new(kw_keyset_remove_backend(keys_of(self), backend))
               : NULL;
}

static PyObject *keyset_issubset(PyObject *self, PyObject *other)
{
    kw_keyset keys = kw_keyset_empty();
    return kwpy_keyset_from(other, &keys) ? PyBool_FromLong(kw_keyset_has_all(keys, keys_of(self)))
                                          : NULL;
}

// By keys, not by bits: {CPU} and {SparseCPU} share a backend's bit and no key.
static bool shares_key(kw_keyset a, kw_keyset b)
{
    kw_keyset_iterator iterator = kw_keyset_iterator_begin(a);
    for (kw_key key; kw_keyset_iterator_next(&iterator, &key);) {
        if (kw_keyset_has(b, key)) {
            return true;
        }
    }
    return false;
}

static PyObject *keyset_isdisjoint(PyObject *self, PyObject *other)
{
    kw_keyset keys = kw_keyset_empty();
    return kwpy_keyset_from(other, &keys) ? PyBool_FromLong(!shares_key(keys_of(self), keys))
                                          : NULL;
}

static PyObject *keyset_full(PyObject *unused, PyObject *args)
{
    (void)unused;
    (void)args;
    return kwpy_keyset_new(kw_keyset_full());
}

static PyObject *keyset_full_after(PyObject *unused, PyObject *object)
{
    (void)unused;
    kw_key key = KW_KEY_Undefined;
    return kwpy_key_from(object, &key) ? kwpy_keyset_new(kw_keyset_full_after(key)) : NULL;
}

static PyObject *keyset_of_alias(PyObject *unused, PyObject *object)
{
    (void)unused;
    kw_key key = KW_KEY_Undefined;
    return kwpy_key_from(object, &key) ? kwpy_keyset_new(kw_key_runtime_set(key)) : NULL;
}

static PyObject *keyset_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("(O(N))", (PyObject *)kwpy.keyset, keyset_text(self));
}

static PyObject *keyset_bits(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(keys_of(self).bits);
}

static PyObject *keyset_highest(PyObject *self, void *closure)
{
    (void)closure;
    // A building block without a backend selects its CPU slot, as the call would.
    return kwpy_key_new(kw_key_of_slot((int)kw_keyset_slot(keys_of(self))));
}

static PyObject *keyset_backends(PyObject *self, void *closure)
{
    (void)closure;
    PyObject *list = PyList_New(0);
    for (int i = 1; list != NULL && i <= KW_BACKEND_COUNT; i++) {
        if (!kw_keyset_has_backend(keys_of(self), (kw_backend)i)) {
            continue;
        }
        kwpy_list_add(&list, PyUnicode_FromString(kw_backend_name((kw_backend)i)));
    }
    PyObject *tuple = list != NULL ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

static PyMethodDef methods[] = {
    {"add", keyset_add, METH_O, "add($self, keys, /)\n--\n\nWith these keys."},
    {"remove", keyset_remove, METH_O,
     "remove($self, keys, /)\n--\n\nWithout the functionalities of these keys; backends stay."},
    {"remove_backend", keyset_remove_backend, METH_O,
     "remove_backend($self, backend, /)\n--\n\nWithout one backend; functionalities stay."},
    {"issubset", keyset_issubset, METH_O,
     "issubset($self, other, /)\n--\n\nWhether every bit is in the other."},
    {"isdisjoint", keyset_isdisjoint, METH_O,
     "isdisjoint($self, other, /)\n--\n\nWhether no key is in both."},
    {"full", keyset_full, METH_NOARGS | METH_STATIC,
     "full()\n--\n\nEvery backend and functionality."},
    {"full_after", keyset_full_after, METH_O | METH_STATIC,
     "full_after(key, /)\n--\n\nWhat a kernel of the key leaves for a redispatch."},
    {"of_alias", keyset_of_alias, METH_O | METH_STATIC,
     "of_alias(key, /)\n--\n\nThe runtime keys that a registration under the key concerns."},
    {"__reduce__", keyset_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"bits", keyset_bits, NULL, "The 64 bits.", NULL},
    {"highest", keyset_highest, NULL, "The key that a call with this set selects.", NULL},
    {"backends", keyset_backends, NULL, "The names of the backends.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, KWPY_TEXT("KeySet(keys=(), /, *, bits=None)\n--\n\nA set of dispatch keys.")},
    {Py_tp_new, KWPY_SLOT(keyset_make)},
    {Py_tp_dealloc, KWPY_SLOT(kwpy_type_free)},
    {Py_tp_repr, KWPY_SLOT(keyset_repr)},
    {Py_tp_str, KWPY_SLOT(keyset_text)},
    {Py_tp_hash, KWPY_SLOT(keyset_hash)},
    {Py_tp_richcompare, KWPY_SLOT(keyset_compare)},
    {Py_tp_iter, KWPY_SLOT(keyset_iterate)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_nb_or, KWPY_SLOT(keyset_or)},
    {Py_nb_and, KWPY_SLOT(keyset_and)},
    {Py_nb_xor, KWPY_SLOT(keyset_xor)},
    {Py_nb_subtract, KWPY_SLOT(keyset_subtract)},
    {Py_nb_bool, KWPY_SLOT(keyset_bool)},
    {Py_sq_length, KWPY_SLOT(keyset_length)},
    {Py_sq_contains, KWPY_SLOT(keyset_contains)},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "keyway.KeySet",
    .basicsize = sizeof(keyset_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

bool kwpy_keyset_add(PyObject *module)
{
    return kwpy_type_add(module, &spec, &kwpy.keyset);
}
