// The type Operator: handles of operators, and calls through them.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; calls give it up while they run.
// SPDX-License-Identifier: MIT
//
// Note [The GIL and calls]
//
// Every call gives the GIL up and takes it again, whatever kernel it ends in: which one that is,
// nobody knows before the call, and a C kernel may run for long, wait for other threads, or take a
// lock whose holder wants the GIL. A Python kernel takes it back for itself.

#include "python/operator.h"

#include <stdlib.h>
#include <string.h>

#include <keyway/snapshot.h>
#include <keyway/tensor.h>

#include "python/bind.h"
#include "python/dispatcher.h"
#include "python/error.h"
#include "python/interpreter.h"
#include "python/key.h"
#include "python/module.h"

// Longer schemas are rare; they are copied to memory of their own.
#define SCHEMA_BYTES 1024

static kwpy_operator *operator_of(PyObject *self)
{
    return (kwpy_operator *)self;
}

bool kwpy_operator_check(PyObject *object)
{
    return Py_TYPE(object) == kwpy.op;
}

PyObject *kwpy_operator_new(PyObject *dispatcher, const kw_operator *op)
{
    PyObject *self = PyType_GenericAlloc(kwpy.op, 0);
    if (self != NULL) {
        Py_INCREF(dispatcher);
        operator_of(self)->dispatcher = dispatcher;
        operator_of(self)->op = op;
    }
    return self;
}

static int operator_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(operator_of(self)->dispatcher);
    return 0;
}

// The dispatcher stays: the handle is in use until the object is gone.
static int operator_clear(PyObject *self)
{
    (void)self;
    return 0;
}

static void operator_free(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_CLEAR(operator_of(self)->schema);
    Py_CLEAR(operator_of(self)->dispatcher);
    kwpy_type_free(self);
}

// The schema's text, terminated, in `buffer` or in memory of its own, which the caller frees.
static char *schema_text(const kw_operator *op, char *buffer)
{
    size_t length = kw_operator_schema(op, buffer, SCHEMA_BYTES);
    if (length < SCHEMA_BYTES) {
        return length > 0 ? buffer : NULL;
    }
    for (;;) {
        size_t size = length + 1;
        char *text = malloc(size);
        length = text != NULL ? kw_operator_schema(op, text, size) : 0;
        if (length > 0 && length < size) {
            return text;
        }
        free(text);
        if (length == 0) {
            return NULL;
        }
    }
}

// Inside a call whose operator has lost its definition meanwhile the last schema serves: the call's
// table has a definition still.
static bool has_last_schema(const kwpy_operator *self)
{
    if (self->schema != NULL && kw_call_operator() == self->op) {
        return true;
    }
    (void)kwpy_raise_text(KW_OPERATOR_REMOVED,
                          "operator `%s` has no definition as of the version in use",
                          kw_operator_name(self->op));
    return false;
}

static bool take_schema(kwpy_operator *self, const char *text)
{
    if (self->schema != NULL && strcmp(self->schema->text, text) == 0) {
        return true;
    }
    kwpy_schema *schema = kwpy_schema_new(text);
    if (schema == NULL) {
        return false;
    }
    kwpy_schema *previous = self->schema;
    self->schema = schema;
    Py_XDECREF((PyObject *)previous);
    return true;
}

static bool refresh_schema(kwpy_operator *self, uint64_t version)
{
    char buffer[SCHEMA_BYTES];
    char *text = schema_text(self->op, buffer);
    self->schema_version = 0;
    if (text == NULL) {
        return has_last_schema(self);
    }
    // Making a Schema may give the GIL up to a thread that sees another version.
    bool done = take_schema(self, text);
    self->schema_version = done ? version : 0;
    if (text != buffer) {
        free(text);
    }
    return done;
}

// A snapshot says which version the thread sees, also under one that somebody else has opened, and
// keeps it for the length of the look. Without memory for one the schema is looked at each time.
kwpy_schema *kwpy_operator_schema(kwpy_operator *self)
{
    kw_snapshot now;
    bool is_open = kw_snapshot_open(&now) == KW_OK;
    bool done = is_open && self->schema != NULL && self->schema_version == now.version;
    if (!done) {
        done = refresh_schema(self, is_open ? now.version : 0);
    }
    kw_status status = is_open ? kw_snapshot_close(&now) : KW_OK;
    (void)status; // nothing was opened in between
    if (!done) {
        return NULL;
    }
    Py_INCREF((PyObject *)self->schema);
    return self->schema;
}

bool kwpy_operator_is_ours(kwpy_operator *self)
{
    if (self->is_ours) {
        return true;
    }
    const kw_tensor_type *type = kw_operator_tensor_type(self->op);
    const kw_tensor_type *ours = kw_tensor_reference_type();
    if (type == NULL) {
        return true; // no library has named one yet
    }
    if (strcmp(type->name, ours->name) != 0 || type->version != ours->version) {
        (void)kwpy_raise_text(KW_TENSOR_TYPE_MISMATCH,
                              "the dispatcher's tensors are of type %s (version %u), and Python "
                              "knows those of type %s (version %u)",
                              type->name, (unsigned)type->version, ours->name,
                              (unsigned)ours->version);
        return false;
    }
    // Before the default dispatcher's tensors are known, nothing of Python's may name their type.
    self->is_ours =
        !((kwpy_dispatcher *)self->dispatcher)->is_default || kwpy_attach(self->dispatcher);
    return self->is_ours;
}

// Runs a bound call without the GIL.
static PyObject *run_bound(kwpy_bound *bound, const kwpy_schema *schema, const kwpy_runner *runner)
{
    kw_status status = KW_OK;
    PyThreadState *state = PyEval_SaveThread();
    status = runner->run(runner, &bound->frame);
    PyEval_RestoreThread(state);
    if (status != KW_OK) {
        return kwpy_raise_call(status);
    }
    kwpy_forget();
    return kwpy_bound_results(bound, schema);
}

PyObject *kwpy_operator_run(kwpy_operator *self, const kwpy_runner *runner, PyObject *args,
                            Py_ssize_t first, PyObject *kwargs)
{
    kwpy_schema *schema = kwpy_operator_is_ours(self) ? kwpy_operator_schema(self) : NULL;
    if (schema == NULL) {
        return NULL;
    }
    kwpy_bound bound;
    PyObject *result = NULL;
    if (kwpy_bind(&bound, kw_operator_name(self->op), schema, args, first, kwargs)) {
        result = run_bound(&bound, schema, runner);
        kwpy_bound_fini(&bound);
    }
    Py_DECREF((PyObject *)schema);
    return result;
}

static kw_status run_call(const kwpy_runner *runner, kw_frame *frame)
{
    return kw_call_boxed(runner->op, frame);
}

static kw_status run_redispatch(const kwpy_runner *runner, kw_frame *frame)
{
    return kw_redispatch_boxed(runner->op, runner->keys, frame);
}

static kw_status run_for_key(const kwpy_runner *runner, kw_frame *frame)
{
    return kw_call_boxed_for_key(runner->op, runner->key, frame);
}

static PyObject *operator_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    const kwpy_runner runner = {.run = run_call, .op = operator_of(self)->op};
    return kwpy_operator_run(operator_of(self), &runner, args, 0, kwargs);
}

static PyObject *first_of(PyObject *args, const char *method)
{
    if (PyTuple_Size(args) == 0) {
        return PyErr_Format(PyExc_TypeError, "%s() needs a key or keys first", method);
    }
    return PyTuple_GetItem(args, 0);
}

static PyObject *operator_redispatch(PyObject *self, PyObject *args, PyObject *kwargs)
{
    kwpy_runner runner = {.run = run_redispatch, .op = operator_of(self)->op};
    PyObject *keys = first_of(args, "redispatch");
    if (keys == NULL || !kwpy_keyset_from(keys, &runner.keys)) {
        return NULL;
    }
    return kwpy_operator_run(operator_of(self), &runner, args, 1, kwargs);
}

static PyObject *operator_call_for_key(PyObject *self, PyObject *args, PyObject *kwargs)
{
    kwpy_runner runner = {.run = run_for_key, .op = operator_of(self)->op};
    PyObject *key = first_of(args, "call_for_key");
    if (key == NULL || !kwpy_key_from(key, &runner.key)) {
        return NULL;
    }
    return kwpy_operator_run(operator_of(self), &runner, args, 1, kwargs);
}

static PyObject *operator_computed_kernel(PyObject *self, PyObject *object)
{
    kw_key key = KW_KEY_Undefined;
    if (!kwpy_key_from(object, &key)) {
        return NULL;
    }
    kw_kernel_handle handle;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_operator_computed_kernel(operator_of(self)->op, key, &handle, &err);
    return status == KW_OK ? kwpy_handle_new(self, handle) : kwpy_raise(status, &err);
}

static PyObject *operator_accepts(PyObject *self, PyObject *args, PyObject *kwargs)
{
    kwpy_schema *schema = kwpy_operator_schema(operator_of(self));
    if (schema == NULL) {
        return NULL;
    }
    kwpy_bound bound;
    bool fits = kwpy_bind(&bound, "", schema, args, 0, kwargs);
    if (fits) {
        kwpy_bound_fini(&bound);
    }
    Py_DECREF((PyObject *)schema);
    if (!fits && !PyErr_ExceptionMatches(PyExc_TypeError)) {
        return NULL;
    }
    PyErr_Clear();
    return PyBool_FromLong(fits);
}

static PyObject *operator_name(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(kw_operator_name(operator_of(self)->op));
}

static PyObject *operator_dispatcher(PyObject *self, void *closure)
{
    (void)closure;
    PyObject *dispatcher = operator_of(self)->dispatcher;
    Py_INCREF(dispatcher);
    return dispatcher;
}

static PyObject *operator_schema(PyObject *self, void *closure)
{
    (void)closure;
    return (PyObject *)kwpy_operator_schema(operator_of(self));
}

static PyObject *operator_tag_bits(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(kw_operator_tags(operator_of(self)->op));
}

static PyObject *operator_address(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr((void *)(uintptr_t)operator_of(self)->op);
}

static PyObject *operator_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<keyway.Operator %s>", kw_operator_name(operator_of(self)->op));
}

#define WITH_NAMES (METH_VARARGS | METH_KEYWORDS)

static PyMethodDef methods[] = {
    {"redispatch", KWPY_METHOD(operator_redispatch), WITH_NAMES,
     "redispatch($self, keys, /, *args, **kwargs)\n--\n\n"
     "Runs the kernel for these keys, inside a call of this operator in that call's table."},
    {"call_for_key", KWPY_METHOD(operator_call_for_key), WITH_NAMES,
     "call_for_key($self, key, /, *args, **kwargs)\n--\n\n"
     "Calls what is registered for exactly this key."},
    {"computed_kernel", operator_computed_kernel, METH_O,
     "computed_kernel($self, key, /)\n--\n\nThe kernel that serves the key, as a handle."},
    {"accepts", KWPY_METHOD(operator_accepts), WITH_NAMES,
     "accepts($self, *args, **kwargs)\n--\n\nWhether the arguments fit the schema."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"name", operator_name, NULL, "The whole name, ns::name.overload.", NULL},
    {"dispatcher", operator_dispatcher, NULL, "The dispatcher.", NULL},
    {"schema", operator_schema, NULL, "The schema.", NULL},
    {"_tag_bits", operator_tag_bits, NULL, NULL, NULL},
    {"address", operator_address, NULL, "The address of the C handle.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef all_methods[24];

static PyType_Slot slots[] = {
    {Py_tp_doc, KWPY_TEXT("One overload of an operator.")},
    {Py_tp_dealloc, KWPY_SLOT(operator_free)},
    {Py_tp_traverse, KWPY_SLOT(operator_traverse)},
    {Py_tp_clear, KWPY_SLOT(operator_clear)},
    {Py_tp_call, KWPY_SLOT(operator_call)},
    {Py_tp_repr, KWPY_SLOT(operator_repr)},
    {Py_tp_methods, all_methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "keyway.Operator",
    .basicsize = sizeof(kwpy_operator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

bool kwpy_operator_add(PyObject *module)
{
    return kwpy_methods_join(all_methods, sizeof all_methods / sizeof all_methods[0], methods,
                             kwpy_inspect_methods) &&
           kwpy_type_add(module, &spec, &kwpy.op);
}
