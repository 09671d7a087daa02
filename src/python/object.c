// Counted objects and generators: values that C kernels see as addresses.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; held objects are given back on any thread.
// SPDX-License-Identifier: MIT

#include "python/object.h"

#include <string.h>

#include "python/error.h"
#include "python/gate.h"
#include "python/module.h"

#define TYPE_NAME "python.object"

typedef struct object_object {
    PyObject base;
    kw_object *object; // one reference
} object_object;

typedef struct generator_object {
    PyObject base;
    PyObject *value;
    struct generator_object *next; // of those that are alive
} generator_object;

static generator_object *generators;

static void let_go(void *data)
{
    kwpy_drop(data);
}

kw_object *kwpy_object_hold(PyObject *object)
{
    const kw_object_options options = {
        .struct_size = sizeof options, .type_name = TYPE_NAME, .data = object, .destroy = let_go};
    kw_object *held = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_object_create(&options, &held, &err);
    if (status != KW_OK) {
        (void)kwpy_raise(status, &err);
        return NULL;
    }
    Py_INCREF(object);
    return held;
}

bool kwpy_object_check(PyObject *object)
{
    return Py_TYPE(object) == kwpy.object;
}

kw_object *kwpy_object_of(PyObject *object)
{
    return ((object_object *)object)->object;
}

PyObject *kwpy_object_new(kw_object *object)
{
    if (strcmp(kw_object_type_name(object), TYPE_NAME) == 0) {
        PyObject *held = kw_object_data(object);
        Py_INCREF(held);
        return held;
    }
    PyObject *self = PyType_GenericAlloc(kwpy.object, 0);
    if (self != NULL) {
        kw_object_retain(object);
        ((object_object *)self)->object = object;
    }
    return self;
}

static void object_free(PyObject *self)
{
    kw_object_release(((object_object *)self)->object);
    kwpy_type_free(self);
}

static PyObject *object_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<keyway.Object %s>", kw_object_type_name(kwpy_object_of(self)));
}

static PyObject *object_compare(PyObject *self, PyObject *other, int operation)
{
    if (!kwpy_object_check(self) || !kwpy_object_check(other) ||
        (operation != Py_EQ && operation != Py_NE)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    bool same = kwpy_object_of(self) == kwpy_object_of(other);
    return PyBool_FromLong(same == (operation == Py_EQ));
}

static Py_hash_t object_hash(PyObject *self)
{
    return (Py_hash_t)((uintptr_t)kwpy_object_of(self) >> 4);
}

static PyObject *object_type_name(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(kw_object_type_name(kwpy_object_of(self)));
}

static PyGetSetDef object_properties[] = {
    {"type_name", object_type_name, NULL, "The type as the schema language writes it.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot object_slots[] = {
    {Py_tp_doc, KWPY_TEXT("A counted object of C code.")},
    {Py_tp_dealloc, KWPY_SLOT(object_free)},
    {Py_tp_repr, KWPY_SLOT(object_repr)},
    {Py_tp_hash, KWPY_SLOT(object_hash)},
    {Py_tp_richcompare, KWPY_SLOT(object_compare)},
    {Py_tp_getset, object_properties},
    {0, NULL},
};

static PyType_Spec object_spec = {
    .name = "keyway.Object",
    .basicsize = sizeof(object_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = object_slots,
};

// Generators
// --------------------------------------------------------------------------------------------

bool kwpy_generator_check(PyObject *object)
{
    return Py_TYPE(object) == kwpy.generator;
}

PyObject *kwpy_generator_find(const void *address)
{
    for (generator_object *one = generators; one != NULL; one = one->next) {
        if (one == address) {
            Py_INCREF((PyObject *)one);
            return (PyObject *)one;
        }
    }
    return PyErr_Format(PyExc_TypeError, "the generator at %p is not one of Python's", address);
}

static PyObject *generator_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"value", NULL};
    PyObject *value = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Generator", KWPY_NAMES(names), &value)) {
        return NULL;
    }
    PyObject *self = PyType_GenericAlloc(type, 0);
    if (self != NULL) {
        generator_object *generator = (generator_object *)self;
        Py_INCREF(value);
        generator->value = value;
        generator->next = generators;
        generators = generator;
    }
    return self;
}

static int generator_clear(PyObject *self)
{
    Py_CLEAR(((generator_object *)self)->value);
    return 0;
}

static void generator_free(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    generator_object **link = &generators;
    while (*link != (generator_object *)self) {
        link = &(*link)->next;
    }
    *link = (*link)->next;
    (void)generator_clear(self);
    kwpy_type_free(self);
}

static int generator_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((generator_object *)self)->value);
    return 0;
}

static PyObject *generator_value(PyObject *self, void *closure)
{
    (void)closure;
    PyObject *value = ((generator_object *)self)->value;
    Py_INCREF(value);
    return value;
}

static PyGetSetDef generator_properties[] = {
    {"value", generator_value, NULL, "What it was made with.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot generator_slots[] = {
    {Py_tp_doc, KWPY_TEXT("Generator(value=None)\n--\n\nStands for a random number generator.")},
    {Py_tp_new, KWPY_SLOT(generator_make)},
    {Py_tp_dealloc, KWPY_SLOT(generator_free)},
    {Py_tp_traverse, KWPY_SLOT(generator_traverse)},
    {Py_tp_clear, KWPY_SLOT(generator_clear)},
    {Py_tp_getset, generator_properties},
    {0, NULL},
};

static PyType_Spec generator_spec = {
    .name = "keyway.Generator",
    .basicsize = sizeof(generator_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = generator_slots,
};

bool kwpy_object_add(PyObject *module)
{
    return kwpy_type_add(module, &object_spec, &kwpy.object) &&
           kwpy_type_add(module, &generator_spec, &kwpy.generator);
}
