// Conversion between Python's objects and boxed values, by the types of the schema language.
//
// Layer:   python (public headers only)
// Threads: one, which holds the GIL.
// SPDX-License-Identifier: MIT
//
//   schema                     takes from Python                         gives to Python
//   Tensor                     Tensor, or anything with __dlpack__       Tensor
//   int, SymInt                int, or what has __index__; not bool      int; a symbolic one Object
//   float                      float, int, or what has __float__         float
//   complex                    complex, float, int                       complex
//   bool                       bool, NumPy's bool                        bool
//   Scalar                     bool, int, float, complex                 the same
//   str                        str                                       str
//   ScalarType                 DType, its number or name, NumPy's dtype  DType
//   Layout, MemoryFormat       their members, numbers or names           their members
//   Device                     Device, (type, index), text               Device
//   T?                         None, or T                                the same
//   T[]                        any sequence of T; T[N] also one T        list
//   (T, U)                     a sequence of that length                 tuple
//   Dict(K, V)                 dict                                      dict
//   Any                        anything                                  the same object
//   Generator                  Generator                                 the same object
//   classes, Storage, Stream   Object                                    Object

#ifndef KWI_PYTHON_CONVERT_H
#define KWI_PYTHON_CONVERT_H

#include <stdbool.h>

#include <keyway/schema.h>
#include <keyway/value.h>

#include "python/arena.h"
#include "python/python.h"

// The conversion of one object.
typedef struct kwpy_conversion {
    kwpy_arena *arena;  // for what the value points to
    PyObject *wrong;    // what does not fit, as a clause; NULL: nothing, or an exception is set
    uint32_t depth;     // of lists and dicts within Any
    bool allows_absent; // None for a Tensor
} kwpy_conversion;

// Makes a borrowed value, valid as long as the object and the arena. False: `wrong` says why, or an
// exception is set.
bool kwpy_value_from(kwpy_conversion *conversion, PyObject *object, const kw_type *type,
                     kw_value *out_value);

// Makes a borrowed value of anything, as for the type Any.
bool kwpy_value_infer(kwpy_conversion *conversion, PyObject *object, kw_value *out_value);

// Raises a TypeError for a conversion that failed: "<place>: <what is wrong>". Another exception
// that is set becomes its cause.
void kwpy_conversion_raise(kwpy_conversion *conversion, const char *place);

// Makes the object of a value, which is borrowed. `type` says which of several objects serves, such
// as DType for an int; NULL: none in particular. NULL with an exception.
PyObject *kwpy_value_new(const kw_value *value, const kw_type *type);

#endif // KWI_PYTHON_CONVERT_H
