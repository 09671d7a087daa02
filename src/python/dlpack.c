// DLPack: capsules from and to Python's objects.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; deleters run on any thread.
// SPDX-License-Identifier: MIT
//
// A deleter may be Python's: it frees objects. Tensors end on threads that do not have the GIL, so
// an imported structure goes into a guard whose deleter takes it first.

#include <stdlib.h>
#include <string.h>

#include <keyway/dlpack.h>

#include "python/dlpack_abi.h"
#include "python/error.h"
#include "python/gate.h"
#include "python/module.h"
#include "python/tensor.h"

#define NAME_OLD "dltensor"
#define NAME_VERSIONED "dltensor_versioned"
#define USED_OLD "used_dltensor"
#define USED_VERSIONED "used_dltensor_versioned"

#define DL_CPU 1

// Export
// --------------------------------------------------------------------------------------------

// A capsule that nobody took the structure out of.
static void end_old(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, NAME_OLD)) {
        kw_dlpack_delete(PyCapsule_GetPointer(capsule, NAME_OLD));
    }
}

static void end_versioned(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, NAME_VERSIONED)) {
        kw_dlpack_delete_versioned(PyCapsule_GetPointer(capsule, NAME_VERSIONED));
    }
}

static PyObject *refuse_export(kw_status status, const kw_error *err)
{
    if (status == KW_NOT_SUPPORTED) {
        return PyErr_Format(PyExc_BufferError, "%s", err->text);
    }
    return kwpy_raise(status, err);
}

static PyObject *export_old(kw_tensor *tensor)
{
    struct DLManagedTensor *managed = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_to_dlpack(tensor, &managed, &err);
    if (status != KW_OK) {
        return refuse_export(status, &err);
    }
    PyObject *capsule = PyCapsule_New(managed, NAME_OLD, end_old);
    if (capsule == NULL) {
        kw_dlpack_delete(managed);
    }
    return capsule;
}

static PyObject *export_versioned(kw_tensor *tensor)
{
    struct DLManagedTensorVersioned *managed = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_to_dlpack_versioned(tensor, &managed, &err);
    if (status != KW_OK) {
        return refuse_export(status, &err);
    }
    PyObject *capsule = PyCapsule_New(managed, NAME_VERSIONED, end_versioned);
    if (capsule == NULL) {
        kw_dlpack_delete_versioned(managed);
    }
    return capsule;
}

// DLPack's numbers of a tensor's device: as the library exports them.
static bool device_numbers(kw_tensor *tensor, int32_t *out_type, int32_t *out_id)
{
    *out_type = DL_CPU;
    *out_id = 0;
    if (kw_tensor_is_on(tensor, KW_DEVICE_CPU)) {
        return true;
    }
    struct DLManagedTensorVersioned *managed = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_to_dlpack_versioned(tensor, &managed, &err);
    if (status != KW_OK) {
        (void)refuse_export(status, &err);
        return false;
    }
    *out_type = managed->tensor.device_type;
    *out_id = managed->tensor.device_id;
    kw_dlpack_delete_versioned(managed);
    return true;
}

PyObject *kwpy_tensor_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)unused;
    int32_t type = 0;
    int32_t id = 0;
    if (!device_numbers(kwpy_tensor_get(self), &type, &id)) {
        return NULL;
    }
    return Py_BuildValue("(ii)", (int)type, (int)id);
}

// What an exporter may refuse, and this one does.
static bool agrees(kw_tensor *tensor, PyObject *stream, PyObject *device, PyObject *wants_copy)
{
    int32_t type = 0;
    int32_t id = 0;
    if (!device_numbers(tensor, &type, &id)) {
        return false;
    }
    if (wants_copy == Py_True) {
        PyErr_SetString(PyExc_BufferError, "an export shares the memory: clone() before it");
        return false;
    }
    if (stream != Py_None && type == DL_CPU) {
        PyErr_SetString(PyExc_BufferError, "the CPU has no streams");
        return false;
    }
    int wanted_type = type;
    int wanted_id = id;
    if (device != Py_None && !PyArg_ParseTuple(device, "ii", &wanted_type, &wanted_id)) {
        return false;
    }
    if (wanted_type != type || wanted_id != id) {
        PyErr_SetString(PyExc_BufferError, "an export does not move the tensor to another device");
        return false;
    }
    return true;
}

PyObject *kwpy_tensor_dlpack(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None;
    PyObject *version = Py_None;
    PyObject *device = Py_None;
    PyObject *wants_copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", KWPY_NAMES(names), &stream,
                                     &version, &device, &wants_copy)) {
        return NULL;
    }
    kw_tensor *tensor = kwpy_tensor_get(self);
    if (!agrees(tensor, stream, device, wants_copy)) {
        return NULL;
    }
    int major = 0;
    int minor = 0;
    if (version != Py_None && !PyArg_ParseTuple(version, "ii", &major, &minor)) {
        return NULL;
    }
    return major >= KW_DLPACK_MAJOR ? export_versioned(tensor) : export_old(tensor);
}

// Import
// --------------------------------------------------------------------------------------------

typedef struct guard_old {
    struct DLManagedTensor managed; // what the library sees
    struct DLManagedTensor *inner;
} guard_old;

typedef struct guard_versioned {
    struct DLManagedTensorVersioned managed;
    struct DLManagedTensorVersioned *inner;
} guard_versioned;

static void delete_old(struct DLManagedTensor *managed)
{
    guard_old *guard = managed->manager_ctx;
    PyGILState_STATE state;
    if (guard->inner->deleter != NULL && kwpy_enter(&state)) {
        guard->inner->deleter(guard->inner);
        kwpy_leave(state);
    }
    free(guard);
}

static void delete_versioned(struct DLManagedTensorVersioned *managed)
{
    guard_versioned *guard = managed->manager_ctx;
    PyGILState_STATE state;
    if (guard->inner->deleter != NULL && kwpy_enter(&state)) {
        guard->inner->deleter(guard->inner);
        kwpy_leave(state);
    }
    free(guard);
}

// The end of an import that failed: the capsule still owns the structure.
static kw_tensor *refuse_import(kw_status status, const kw_error *err)
{
    if (status == KW_NOT_SUPPORTED || status == KW_INVALID_ARGUMENT) {
        (void)PyErr_Format(PyExc_BufferError, "%s", err->text);
    } else {
        (void)kwpy_raise(status, err);
    }
    return NULL;
}

static kw_tensor *import_old(PyObject *capsule)
{
    struct DLManagedTensor *inner = PyCapsule_GetPointer(capsule, NAME_OLD);
    guard_old *guard = inner != NULL ? malloc(sizeof *guard) : NULL;
    if (guard == NULL) {
        return inner != NULL ? (kw_tensor *)PyErr_NoMemory() : NULL;
    }
    guard->managed = *inner;
    guard->managed.manager_ctx = guard;
    guard->managed.deleter = delete_old;
    guard->inner = inner;
    kw_tensor *tensor = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_from_dlpack(&guard->managed, NULL, &tensor, &err);
    if (status != KW_OK) {
        free(guard);
        return refuse_import(status, &err);
    }
    (void)PyCapsule_SetName(capsule, USED_OLD);
    return tensor;
}

static kw_tensor *import_versioned(PyObject *capsule)
{
    struct DLManagedTensorVersioned *inner = PyCapsule_GetPointer(capsule, NAME_VERSIONED);
    guard_versioned *guard = inner != NULL ? malloc(sizeof *guard) : NULL;
    if (guard == NULL) {
        return inner != NULL ? (kw_tensor *)PyErr_NoMemory() : NULL;
    }
    // Of another major version only the four members in front are known.
    memset(&guard->managed, 0, sizeof guard->managed);
    guard->managed.major = inner->major;
    guard->managed.minor = inner->minor;
    if (inner->major == KW_DLPACK_MAJOR) {
        guard->managed = *inner;
    }
    guard->managed.manager_ctx = guard;
    guard->managed.deleter = delete_versioned;
    guard->inner = inner;
    kw_tensor *tensor = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_from_dlpack_versioned(&guard->managed, NULL, &tensor, &err);
    if (status != KW_OK) {
        free(guard);
        return refuse_import(status, &err);
    }
    (void)PyCapsule_SetName(capsule, USED_VERSIONED);
    return tensor;
}

static kw_tensor *import_capsule(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, NAME_VERSIONED)) {
        return import_versioned(capsule);
    }
    if (PyCapsule_IsValid(capsule, NAME_OLD)) {
        return import_old(capsule);
    }
    const char *name = PyCapsule_GetName(capsule);
    PyErr_Clear();
    (void)PyErr_Format(PyExc_ValueError,
                       "the capsule is named '%s', but one of DLPack is named 'dltensor' or "
                       "'dltensor_versioned' and is used once",
                       name != NULL ? name : "");
    return NULL;
}

// The type whose __dlpack__ last refused max_version: the next of its objects is not asked for it.
// Only compared, never followed.
static const void *old_type;

static PyObject *ask_for_capsule(PyObject *object)
{
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
    if (method == NULL) {
        return NULL;
    }
    PyObject *capsule = NULL;
    if (old_type != (const void *)Py_TYPE(object)) {
        PyObject *args = PyTuple_New(0);
        PyObject *kwargs =
            Py_BuildValue("{s(ii)}", "max_version", KW_DLPACK_MAJOR, KW_DLPACK_MINOR);
        capsule = args != NULL && kwargs != NULL ? PyObject_Call(method, args, kwargs) : NULL;
        Py_XDECREF(args);
        Py_XDECREF(kwargs);
        if (capsule == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            old_type = Py_TYPE(object);
        }
    }
    if (capsule == NULL && !PyErr_Occurred()) {
        capsule = PyObject_CallObject(method, NULL);
    }
    Py_DECREF(method);
    return capsule;
}

kw_tensor *kwpy_tensor_from_dlpack(PyObject *object)
{
    if (PyCapsule_CheckExact(object)) {
        return import_capsule(object);
    }
    PyObject *capsule = ask_for_capsule(object);
    if (capsule == NULL) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
            PyErr_Clear();
            (void)PyErr_Format(PyExc_TypeError, "%R has no __dlpack__",
                               (PyObject *)Py_TYPE(object));
        }
        return NULL;
    }
    kw_tensor *tensor = NULL;
    if (PyCapsule_CheckExact(capsule)) {
        tensor = import_capsule(capsule);
    } else {
        (void)PyErr_Format(PyExc_TypeError, "__dlpack__ gave %R instead of a capsule",
                           (PyObject *)Py_TYPE(capsule));
    }
    Py_DECREF(capsule);
    return tensor;
}

bool kwpy_tensor_can(PyObject *object)
{
    return kwpy_tensor_check(object) || PyObject_HasAttrString(object, "__dlpack__") != 0;
}

kw_tensor *kwpy_tensor_from(PyObject *object)
{
    if (kwpy_tensor_check(object)) {
        kw_tensor *tensor = kwpy_tensor_get(object);
        kw_tensor_retain(tensor);
        return tensor;
    }
    if (PyObject_HasAttrString(object, "__dlpack__") == 0) {
        return kwpy_tensor_from_buffer(object);
    }
    kw_tensor *tensor = kwpy_tensor_from_dlpack(object);
    // What NumPy cannot say of a read-only array by DLPack, a buffer can.
    if (tensor == NULL && PyErr_ExceptionMatches(PyExc_BufferError) &&
        PyObject_CheckBuffer(object) != 0) {
        PyErr_Clear();
        tensor = kwpy_tensor_from_buffer(object);
    }
    return tensor;
}
