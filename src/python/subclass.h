// One Python object for one tensor, and classes whose instances take over operators.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT
//
// Note [Object and tensor]
//
// A tensor and its Python object find each other for as long as either is used. Usually the object
// has a reference to the tensor, and the tensor's slot knows the object. When Python lets go of the
// object and C code still has the tensor, the object is not ended but lent: the tensor has the
// reference to the object, which keeps a weak one to the tensor. When the tensor comes to Python
// again, the object is Python's again, with all its attributes.
//
// A lent object can also be reached without its tensor, through a weak reference or the garbage
// collector. Whoever asks it for its tensor then settles that: the object gets a reference of its
// own, or, if the tensor has ended meanwhile, stands for the undefined tensor.
//
// Python calls a finalizer once for an object. An object that is Python's again may be lent again,
// so its mark "finalized" is taken off: see unmark().

#ifndef KWI_PYTHON_SUBCLASS_H
#define KWI_PYTHON_SUBCLASS_H

#include <stdbool.h>

#include <keyway/tensor.h>

#include "python/python.h"
#include "python/tensor.h"

// The object of a tensor, a new reference, for which the reference to the tensor is taken; NULL
// without an exception, and nothing is taken: it has none.
PyObject *kwpy_identity_find(kw_tensor *take_tensor);

// Makes an object, which has its reference to the tensor already, the tensor's. False with an
// exception.
bool kwpy_identity_bind(PyObject *self);

// The tensor of a lent object, as Note [Object and tensor] says. Borrowed; never NULL.
kw_tensor *kwpy_identity_settle(PyObject *self);

// tp_finalize: lends the object if C code has its tensor.
void kwpy_identity_finalize(PyObject *self);

// For tp_dealloc: finalizes a plain object, whose finalizer nobody else calls. True: it lives on.
bool kwpy_identity_survives(PyObject *self);

// The end of an object that was not lent: gives up slot and tensor.
void kwpy_identity_end(PyObject *self);

// The tensor of a lent object ends.
void kwpy_identity_forget(PyObject *self);

// Whether a class has a __kw_dispatch__ of its own; -1 with an exception.
int kwpy_type_dispatches(PyTypeObject *type);

// make_subclass(), make_wrapper() and __kw_dispatch__(), class methods of Tensor.
extern PyMethodDef kwpy_subclass_methods[];

#endif // KWI_PYTHON_SUBCLASS_H
