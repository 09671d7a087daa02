// C signatures: the code that says which C function type an operator's kernels have.
//
// Layer:   schema
// Threads: any; nothing here is shared.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_C_SIGNATURE_H
#define KWI_SCHEMA_C_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/status.h>

#include "schema/schema.h"

// Note [C signature codes]
//
// One letter for each argument, then '>', then one letter for each return:
//
//   code  C parameter                schema types
//   t     void *                     Tensor, Tensor?; NULL is the absent tensor
//   T     kw_tensor_list             Tensor[], Tensor[N], Tensor?[]
//   i     int64_t                    int, SymInt, ScalarType, Layout, MemoryFormat, DeviceIndex
//   d     double                     float
//   b     bool                       bool
//   s     const char *               str, str?; NULL is None; ends with a zero
//   I     kw_int_list                lists of what `i` takes, sized or not
//   D     kw_float_list              float[], float[N]
//   B     kw_bool_list               bool[], bool[N]
//   g     void *                     Generator, Generator?; NULL is the absent generator
//   ?i    const int64_t *            an optional of what `i` takes; NULL is None
//   ?d    const double *             float?
//   ?b    const bool *               bool?
//
// A return becomes an out pointer after the arguments: `t` void **, `i` int64_t *, `d` double *,
// `b` bool *. The absent tensor is returned as NULL. So `conv(Tensor x, Tensor? b, int[2] pad)
// -> Tensor` is "ttI>t", and its kernels are
//
//   kw_status conv(const kw_kernel *self, kw_keyset keys, void *x, void *b, kw_int_list pad,
//                  void **out_0);
//
// Pointers and lists are borrowed for the call; a returned tensor is owned by the caller. A kernel
// that fails leaves its out pointers untouched. All other types, and "...", have no C form: such an
// operator is called with frames only.

// Bytes of the longest code: "?x" for every argument, '>', every return, the terminating zero.
#define KWI_C_SIGNATURE_BYTES (2 * KWI_SCHEMA_ARGS_MAX + 1 + KWI_SCHEMA_RETURNS_MAX + 1)

typedef enum kwi_c_form {
    KWI_C_TENSOR,
    KWI_C_INT,
    KWI_C_FLOAT,
    KWI_C_BOOL,
    KWI_C_STRING,
    KWI_C_TENSOR_LIST,
    KWI_C_INT_LIST,
    KWI_C_FLOAT_LIST,
    KWI_C_BOOL_LIST,
    KWI_C_GENERATOR,
    KWI_C_OPTIONAL_INT,
    KWI_C_OPTIONAL_FLOAT,
    KWI_C_OPTIONAL_BOOL,
    KWI_C_FORM_COUNT
} kwi_c_form;

// A code, taken apart. Returns are KWI_C_TENSOR, KWI_C_INT, KWI_C_FLOAT or KWI_C_BOOL.
typedef struct kwi_c_signature {
    uint32_t arg_count;
    uint32_t return_count;
    uint8_t args[KWI_SCHEMA_ARGS_MAX];       // a kwi_c_form each
    uint8_t returns[KWI_SCHEMA_RETURNS_MAX]; // a kwi_c_form each
} kwi_c_signature;

// Writes the code of a schema; KWI_C_SIGNATURE_BYTES always suffice. KW_NOT_SUPPORTED when a type
// has no C form, KW_INVALID_ARGUMENT when `size` is too small; `buffer` is then untouched.
KW_NODISCARD kw_status kwi_schema_signature(const kwi_schema *schema, char *buffer, size_t size);

// Takes a code apart. KW_INVALID_ARGUMENT with the byte, or KW_TOO_MANY_ARGUMENTS.
KW_NODISCARD kw_status kwi_c_signature_decode(const char *code, kwi_c_signature *out_signature,
                                              kw_error *err);

#endif // KWI_SCHEMA_C_SIGNATURE_H
