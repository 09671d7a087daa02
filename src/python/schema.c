// Schemas: parsed declarations that operators share, and the type Schema.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include "python/schema.h"

#include <stdlib.h>
#include <string.h>

#include "python/convert.h"
#include "python/dtype.h"
#include "python/error.h"
#include "python/module.h"
#include "python/pack.h"

// The longest text of a type, of a default, and of a C signature.
#define TEXT_BYTES 4096

static const kw_schema *schema_of(PyObject *self)
{
    return ((kwpy_schema *)self)->schema;
}

static PyObject *text_of(kw_text_view view)
{
    return PyUnicode_DecodeUTF8(view.data != NULL ? view.data : "", (Py_ssize_t)view.length,
                                "replace");
}

static PyObject *names_of(const kw_schema *schema)
{
    uint32_t count = kw_schema_arg_count(schema);
    PyObject *names = PyTuple_New((Py_ssize_t)count);
    for (uint32_t i = 0; names != NULL && i < count; i++) {
        PyObject *name = text_of(kw_schema_arg(schema, i).name);
        if (name != NULL) {
            PyUnicode_InternInPlace(&name);
        }
        kwpy_tuple_put(&names, (Py_ssize_t)i, name);
    }
    return names;
}

kwpy_schema *kwpy_schema_new(const char *text)
{
    kwpy_schema *self = (kwpy_schema *)PyType_GenericAlloc(kwpy.schema, 0);
    if (self == NULL) {
        return NULL;
    }
    self->text = strdup(text);
    kw_error err = KW_ERROR_INIT;
    kw_status status =
        self->text != NULL ? kw_schema_parse(text, &self->schema, &err) : KW_NO_MEMORY;
    if (status != KW_OK) {
        (void)kwpy_raise(status, &err);
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    self->arg_count = kw_schema_arg_count(self->schema);
    self->return_count = kw_schema_return_count(self->schema);
    self->is_vararg = kw_schema_is_vararg(self->schema);
    while (self->positional_count < self->arg_count &&
           !kw_schema_arg(self->schema, self->positional_count).keyword_only) {
        self->positional_count++;
    }
    self->names = names_of(self->schema);
    if (self->names == NULL) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return self;
}

// The original keeps the text of an optional device; a call needs the device.
static bool settle_device(const kw_type *type, kw_value *value)
{
    if (kw_type_kind_of(type) == KW_TYPE_OPTIONAL) {
        type = kw_type_child(type, 0);
    }
    if (kw_type_kind_of(type) != KW_TYPE_DEVICE || value->tag != KW_TAG_STRING) {
        return true;
    }
    PyObject *text = PyUnicode_FromString(value->as.as_string);
    kw_device device = {0, 0};
    bool done = text != NULL && kwpy_device_from(text, &device);
    Py_XDECREF(text);
    kw_value_release(value, NULL);
    *value = kw_value_device(device);
    return done;
}

bool kwpy_schema_has_default(const kwpy_schema *self, uint32_t index)
{
    return kw_schema_arg(self->schema, index).default_text.length > 0;
}

const kw_value *kwpy_schema_default(kwpy_schema *self, uint32_t index)
{
    if ((self->defaults_made >> index & 1) != 0) {
        return &self->defaults[index];
    }
    if (self->defaults == NULL) {
        self->defaults = calloc(self->arg_count, sizeof *self->defaults);
        if (self->defaults == NULL) {
            (void)PyErr_NoMemory();
            return NULL;
        }
    }
    kw_value *value = &self->defaults[index];
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_value_default(self->schema, index, value, &err);
    if (status != KW_OK) {
        if (status != KW_NOT_FOUND) {
            (void)kwpy_raise(status, &err);
        }
        return NULL;
    }
    if (!settle_device(kw_schema_arg(self->schema, index).type, value)) {
        return NULL;
    }
    self->defaults_made |= UINT64_C(1) << index;
    return value;
}

static PyObject *schema_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type;
    static const char *const names[] = {"text", NULL};
    const char *text = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s:Schema", KWPY_NAMES(names), &text)) {
        return NULL;
    }
    return (PyObject *)kwpy_schema_new(text);
}

static void schema_free(PyObject *self)
{
    kwpy_schema *schema = (kwpy_schema *)self;
    for (uint32_t i = 0; schema->defaults != NULL && i < schema->arg_count; i++) {
        kw_value_release(&schema->defaults[i], NULL);
    }
    free(schema->defaults);
    kw_schema_destroy(schema->schema);
    free(schema->text);
    Py_XDECREF(schema->names);
    kwpy_type_free(self);
}

// Canonical texts, by the functions that write them.
static PyObject *schema_text(PyObject *self)
{
    size_t length = kw_schema_format(schema_of(self), NULL, 0);
    char *text = malloc(length + 1);
    if (text == NULL) {
        return PyErr_NoMemory();
    }
    (void)kw_schema_format(schema_of(self), text, length + 1);
    PyObject *object = PyUnicode_FromString(text);
    free(text);
    return object;
}

static PyObject *schema_repr(PyObject *self)
{
    PyObject *text = schema_text(self);
    PyObject *repr = text != NULL ? PyUnicode_FromFormat("Schema(%R)", text) : NULL;
    Py_XDECREF(text);
    return repr;
}

static PyObject *schema_compare(PyObject *self, PyObject *other, int operation)
{
    if (Py_TYPE(self) != kwpy.schema || Py_TYPE(other) != kwpy.schema ||
        (operation != Py_EQ && operation != Py_NE)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    bool same = kw_schema_compare(schema_of(self), schema_of(other), NULL, 0) == KW_SCHEMA_EQUAL;
    return PyBool_FromLong(same == (operation == Py_EQ));
}

static Py_hash_t schema_hash(PyObject *self)
{
    PyObject *text = schema_text(self);
    Py_hash_t hash = text != NULL ? PyObject_Hash(text) : -1;
    Py_XDECREF(text);
    return hash;
}

static PyObject *default_text(const kw_schema *schema, uint32_t index)
{
    char text[TEXT_BYTES];
    if (kw_schema_default_format(schema, index, text, sizeof text) == 0) {
        Py_RETURN_NONE;
    }
    return PyUnicode_FromString(text);
}

static PyObject *row(const kw_schema *schema, kw_argument argument, PyObject *take_default)
{
    (void)schema;
    char type[TEXT_BYTES];
    (void)kw_type_format(argument.type, type, sizeof type);
    return PyObject_CallFunction(kwpy.argument, "NsNNN", text_of(argument.name), type, take_default,
                                 PyBool_FromLong(argument.keyword_only),
                                 PyBool_FromLong(argument.written));
}

static PyObject *schema_args(PyObject *self, void *closure)
{
    (void)closure;
    uint32_t count = ((kwpy_schema *)self)->arg_count;
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (uint32_t i = 0; tuple != NULL && i < count; i++) {
        kwpy_tuple_put(&tuple, (Py_ssize_t)i,
                       row(schema_of(self), kw_schema_arg(schema_of(self), i),
                           default_text(schema_of(self), i)));
    }
    return tuple;
}

static PyObject *schema_returns(PyObject *self, void *closure)
{
    (void)closure;
    uint32_t count = ((kwpy_schema *)self)->return_count;
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (uint32_t i = 0; tuple != NULL && i < count; i++) {
        Py_INCREF(Py_None);
        kwpy_tuple_put(&tuple, (Py_ssize_t)i,
                       row(schema_of(self), kw_schema_return(schema_of(self), i), Py_None));
    }
    return tuple;
}

static PyObject *schema_name(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(kw_schema_name(schema_of(self)));
}

static PyObject *schema_signature(PyObject *self, void *closure)
{
    (void)closure;
    char text[TEXT_BYTES];
    text[0] = 0;
    (void)kw_schema_c_signature(schema_of(self), text, sizeof text);
    return PyUnicode_FromString(text);
}

static PyObject *schema_default(PyObject *self, PyObject *object)
{
    long index = PyLong_AsLong(object);
    if (index == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (index < 0 || index >= (long)((kwpy_schema *)self)->arg_count) {
        return PyErr_Format(PyExc_IndexError, "the schema has no argument %ld", index);
    }
    const kw_value *value = kwpy_schema_default((kwpy_schema *)self, (uint32_t)index);
    if (value == NULL) {
        return PyErr_Occurred() ? NULL
                                : kwpy_raise_text(KW_NOT_FOUND, "the argument has no default");
    }
    return kwpy_value_new(value, kw_schema_arg(schema_of(self), (uint32_t)index).type);
}

static PyMethodDef methods[] = {
    {"default", schema_default, METH_O,
     "default($self, index, /)\n--\n\nThe default of an argument."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"name", schema_name, NULL, "The whole name, ns::name.overload.", NULL},
    {"args", schema_args, NULL, "The arguments.", NULL},
    {"returns", schema_returns, NULL, "The returns.", NULL},
    {"c_signature", schema_signature, NULL, "The C signature of its kernels, as a code.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, KWPY_TEXT("Schema(text)\n--\n\nA declaration, parsed.")},
    {Py_tp_new, KWPY_SLOT(schema_make)},
    {Py_tp_dealloc, KWPY_SLOT(schema_free)},
    {Py_tp_repr, KWPY_SLOT(schema_repr)},
    {Py_tp_str, KWPY_SLOT(schema_text)},
    {Py_tp_hash, KWPY_SLOT(schema_hash)},
    {Py_tp_richcompare, KWPY_SLOT(schema_compare)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "keyway.Schema",
    .basicsize = sizeof(kwpy_schema),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

bool kwpy_schema_add(PyObject *module)
{
    return kwpy_type_add(module, &spec, &kwpy.schema);
}
