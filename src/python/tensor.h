// The type Tensor: Python's objects for reference tensors.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_TENSOR_H
#define KWI_PYTHON_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/tensor.h>

#include "python/python.h"

typedef struct kwpy_tensor {
    PyObject base;
    kw_tensor *tensor; // one reference, a weak one while lent; NULL before it is set and after its
                       // end
    PyObject *weakrefs;
    Py_ssize_t exports; // buffers that are out
    bool is_lent;       // the tensor owns the object: Note [Object and tensor] in subclass.h
} kwpy_tensor;

bool kwpy_tensor_check(PyObject *object);

// The tensor of a lent object, which is Python's again.
kw_tensor *kwpy_identity_settle(PyObject *self);

// The C tensor of an object that is a Tensor, borrowed from it.
static inline kw_tensor *kwpy_tensor_get(PyObject *self)
{
    const kwpy_tensor *object = (const kwpy_tensor *)self;
    return object->is_lent ? kwpy_identity_settle(self) : object->tensor;
}

// The C tensor of a Tensor, borrowed from it; NULL with an exception if it is none.
kw_tensor *kwpy_tensor_of(PyObject *object);

// Makes the object of a tensor, whose reference it takes, also on failure. NULL with an exception.
PyObject *kwpy_tensor_wrap(kw_tensor *take_tensor);

// Makes a tensor of a Tensor, an object with __dlpack__, or, where that cannot export, a buffer.
// One reference; NULL with an exception.
kw_tensor *kwpy_tensor_from(PyObject *object);

// Whether an object can be made one, without trying.
bool kwpy_tensor_can(PyObject *object);

// Reads `f(2, 3)` and `f((2, 3))`: integers, at most KW_TENSOR_DIM_MAX. False with an exception.
bool kwpy_ints_from_args(PyObject *args, int64_t *out_ints, uint32_t *out_count);
bool kwpy_ints_from(PyObject *object, int64_t *out_ints, uint32_t *out_count);
PyObject *kwpy_ints_new(const int64_t *ints, uint32_t count);

// What other files add to the type: views and copies, indices, exchange, buffers.
extern PyMethodDef kwpy_view_methods[];
PyObject *kwpy_tensor_reversed(PyObject *self, void *closure);
PyObject *kwpy_tensor_get_item(PyObject *self, PyObject *index);
int kwpy_tensor_set_item(PyObject *self, PyObject *index, PyObject *value);
PyObject *kwpy_tensor_item(PyObject *self, PyObject *unused);
PyObject *kwpy_tensor_to_list(PyObject *self, PyObject *unused);
PyObject *kwpy_tensor_dlpack(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *kwpy_tensor_dlpack_device(PyObject *self, PyObject *unused);
int kwpy_tensor_get_buffer(PyObject *self, Py_buffer *view, int flags);
void kwpy_tensor_release_buffer(PyObject *self, Py_buffer *view);

// Make tensors of capsules and of buffers. One reference; NULL with an exception.
kw_tensor *kwpy_tensor_from_dlpack(PyObject *object);
kw_tensor *kwpy_tensor_from_buffer(PyObject *object);

#endif // KWI_PYTHON_TENSOR_H
