// Keys: from and to Python's objects, and what the class Key asks.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include "python/key.h"

#include "python/error.h"
#include "python/module.h"

// The objects made so far: a Key is one for the process.
static PyObject *keys_made[KW_KEY_LIMIT];

PyObject *kwpy_key_new(kw_key key)
{
    if (key >= KW_KEY_LIMIT) {
        return PyErr_Format(PyExc_ValueError, "%u is no key", (unsigned)key);
    }
    if (keys_made[key] == NULL) {
        keys_made[key] = PyObject_CallFunction(kwpy.key, "I", (unsigned)key);
    }
    Py_XINCREF(keys_made[key]);
    return keys_made[key];
}

static bool key_of_number(PyObject *object, kw_key *out_key)
{
    int overflow = 0;
    long number = PyLong_AsLongAndOverflow(object, &overflow);
    if (number == -1 && PyErr_Occurred()) {
        return false;
    }
    if (overflow != 0 || number < 0 || number >= KW_KEY_LIMIT || !kw_key_is_valid((kw_key)number)) {
        (void)PyErr_Format(PyExc_ValueError, "%R is no key", object);
        return false;
    }
    *out_key = (kw_key)number;
    return true;
}

bool kwpy_key_from(PyObject *object, kw_key *out_key)
{
    if (PyLong_Check(object)) {
        return key_of_number(object, out_key);
    }
    if (!PyUnicode_Check(object)) {
        (void)PyErr_Format(PyExc_TypeError, "a key is a Key, a name or a number, not %R",
                           (PyObject *)Py_TYPE(object));
        return false;
    }
    const char *name = PyUnicode_AsUTF8AndSize(object, NULL);
    kw_error err = KW_ERROR_INIT;
    kw_status status = name != NULL ? kw_key_parse(name, out_key, &err) : KW_OK;
    if (status != KW_OK) {
        (void)kwpy_raise(status, &err);
    }
    return name != NULL && status == KW_OK;
}

int kwpy_key_converter(PyObject *object, void *out_key)
{
    return kwpy_key_from(object, (kw_key *)out_key) ? 1 : 0;
}

bool kwpy_backend_from(PyObject *object, kw_backend *out_backend)
{
    const char *name = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    if (name == NULL) {
        if (!PyErr_Occurred()) {
            (void)PyErr_Format(PyExc_TypeError, "a backend is a name, not %R",
                               (PyObject *)Py_TYPE(object));
        }
        return false;
    }
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_backend_parse(name, out_backend, &err);
    if (status != KW_OK) {
        (void)kwpy_raise(status, &err);
    }
    return status == KW_OK;
}

static PyObject *key_parse(PyObject *module, PyObject *object)
{
    (void)module;
    kw_key key = KW_KEY_Undefined;
    return kwpy_key_from(object, &key) ? PyLong_FromLong(key) : NULL;
}

static PyObject *key_name(PyObject *module, PyObject *object)
{
    (void)module;
    kw_key key = KW_KEY_Undefined;
    return kwpy_key_from(object, &key) ? PyUnicode_FromString(kw_key_name(key)) : NULL;
}

// (functionality, backend or None, is alias, is runtime)
static PyObject *key_facts(PyObject *module, PyObject *object)
{
    (void)module;
    kw_key key = KW_KEY_Undefined;
    if (!kwpy_key_from(object, &key)) {
        return NULL;
    }
    kw_backend backend = kw_key_backend(key);
    const char *name = backend != KW_BACKEND_INVALID ? kw_backend_name(backend) : NULL;
    return Py_BuildValue("(iNNN)", (int)kw_key_functionality(key), Py_BuildValue("z", name),
                         PyBool_FromLong(kw_key_is_alias(key)),
                         PyBool_FromLong(kw_key_is_runtime(key)));
}

static PyObject *rename_backend(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *old_name = NULL;
    const char *name = NULL;
    kw_backend backend = KW_BACKEND_INVALID;
    if (!PyArg_ParseTuple(args, "Os:rename_backend", &old_name, &name) ||
        !kwpy_backend_from(old_name, &backend)) {
        return NULL;
    }
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_backend_rename(backend, name, &err);
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    Py_RETURN_NONE;
}

static PyObject *claim_backend(PyObject *module, PyObject *args)
{
    (void)module;
    const char *name = NULL;
    if (!PyArg_ParseTuple(args, "s:claim_backend", &name)) {
        return NULL;
    }
    kw_backend backend = KW_BACKEND_INVALID;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_backend_claim(name, &backend, &err);
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    return PyUnicode_FromString(kw_backend_name(backend));
}

static PyMethodDef functions[] = {
    {"_key_parse", key_parse, METH_O, NULL},
    {"_key_name", key_name, METH_O, NULL},
    {"_key_facts", key_facts, METH_O, NULL},
    {"rename_backend", rename_backend, METH_VARARGS,
     "rename_backend($module, backend, name, /)\n--\n\n"
     "Gives one of the PrivateUse backends a name, once for the process."},
    {"claim_backend", claim_backend, METH_VARARGS,
     "claim_backend($module, name, /)\n--\n\n"
     "Gives the first PrivateUse backend without a name this one; returns the backend's name."},
    {NULL, NULL, 0, NULL},
};

bool kwpy_key_add(PyObject *module)
{
    return kwpy_functions_add(module, functions);
}
