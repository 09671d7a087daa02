// One Python object for one tensor: lending, settling, and ending.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include <keyway/interpreter.h>

#include "python/error.h"
#include "python/interpreter.h"
#include "python/module.h"
#include "python/subclass.h"

static kwpy_tensor *cast(PyObject *self)
{
    return (kwpy_tensor *)self;
}

static bool set_slot(kw_tensor *tensor, PyObject *object, bool owned, kw_error *err)
{
    return kw_interpreter_set_object(kwpy_interpreter(), tensor, object, owned, err) == KW_OK;
}

// In CPython 3.11 the mark is the lowest bit of the word before an object that the collector knows.
// The public function says whether this is where it lies; if not, the word is put
// back, and the object can be lent only once.
static void unmark(PyObject *self)
{
    if (!PyObject_GC_IsFinalized(self)) {
        return;
    }
    uintptr_t *head = (uintptr_t *)(void *)self - 1;
    const uintptr_t before = *head;
    *head = before & ~(uintptr_t)1;
    if (PyObject_GC_IsFinalized(self)) {
        *head = before;
    }
}

// Makes a lent object Python's, which has got a reference to the tensor.
static void take_back(PyObject *self, kw_tensor *tensor)
{
    (void)set_slot(tensor, self, false, NULL); // the slot is there: nothing is allocated
    cast(self)->is_lent = false;
    kw_tensor_weak_release(tensor);
    unmark(self);
}

PyObject *kwpy_identity_find(kw_tensor *take_tensor)
{
    PyObject *self = (PyObject *)kw_tensor_object(take_tensor, kwpy_interpreter(), NULL);
    if (self == NULL) {
        return NULL;
    }
    if (cast(self)->is_lent) {
        take_back(self, take_tensor); // the tensor's reference to the object goes to the caller
        return self;
    }
    Py_INCREF(self);
    kw_tensor_release(take_tensor);
    return self;
}

bool kwpy_identity_bind(PyObject *self)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *tensor = cast(self)->tensor;
    if (!kw_tensor_is_defined(tensor)) {
        return true;
    }
    kw_status status = kw_interpreter_set_object(kwpy_interpreter(), tensor, self, false, &err);
    // Another interpreter's tensor has an object there, and any number here.
    return status == KW_OK || status == KW_BUSY || kwpy_raise(status, &err) != NULL;
}

kw_tensor *kwpy_identity_settle(PyObject *self)
{
    kw_tensor *tensor = cast(self)->tensor;
    if (kw_tensor_lock(tensor)) {
        take_back(self, tensor);
        Py_DECREF(self); // the tensor's; the caller has another one
        return tensor;
    }
    // Another thread is about to call kwpy_identity_forget() and waits for the GIL.
    cast(self)->tensor = kw_tensor_undefined();
    cast(self)->is_lent = false;
    kw_tensor_weak_release(tensor);
    return cast(self)->tensor;
}

void kwpy_identity_finalize(PyObject *self)
{
    kw_tensor *tensor = cast(self)->tensor;
    if (tensor == NULL || cast(self)->is_lent || kw_tensor_use_count(tensor) < 2 ||
        kw_tensor_object(tensor, kwpy_interpreter(), NULL) != self) {
        return;
    }
    kw_tensor_weak_retain(tensor);
    cast(self)->is_lent = true;
    Py_INCREF(self);
    (void)set_slot(tensor, self, true, NULL); // the slot is there: nothing is allocated
    // If the others have let go meanwhile, this is the last reference: kwpy_identity_forget().
    kw_tensor_release(tensor);
}

bool kwpy_identity_survives(PyObject *self)
{
    Py_SET_REFCNT(self, 1);
    kwpy_identity_finalize(self);
    Py_SET_REFCNT(self, Py_REFCNT(self) - 1);
    return Py_REFCNT(self) > 0;
}

void kwpy_identity_end(PyObject *self)
{
    kw_tensor *tensor = cast(self)->tensor;
    cast(self)->tensor = NULL;
    if (tensor == NULL) {
        return;
    }
    // A weak reference of C code's may make the tensor live on.
    if (kw_tensor_object(tensor, kwpy_interpreter(), NULL) == self) {
        (void)set_slot(tensor, NULL, false, NULL);
    }
    kw_tensor_release(tensor);
}

void kwpy_identity_forget(PyObject *self)
{
    kw_tensor *tensor = cast(self)->tensor;
    if (cast(self)->is_lent) {
        cast(self)->tensor = kw_tensor_undefined();
        cast(self)->is_lent = false;
        kw_tensor_weak_release(tensor);
    }
}
