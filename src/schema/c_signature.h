// C signatures: the code that says which C function type an operator's kernels have.
//
// Layer:   schema
// Threads: any; nothing here is shared.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_C_SIGNATURE_H
#define KWI_SCHEMA_C_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/status.h>

#include "schema/schema.h"

// Note [C signature codes]
//
// One letter for each argument, then '>', then one letter for each return:
//
//   code  C parameter       schema types                                            return
//   t     void *            Tensor, Tensor?; NULL is the absent tensor              void **
//   i     int64_t           int, ScalarType, Layout, MemoryFormat, DeviceIndex,     int64_t *
//                           QScheme
//   d     double            float                                                   double *
//   b     bool              bool                                                    bool *
//   c     kw_complex        complex                                                 kw_complex *
//   e     kw_device         Device                                                  kw_device *
//   y     kw_symint         SymInt                                                  kw_symint *
//   s     const char *      str, str?; NULL is None; ends with a zero               -
//   g     void *            Generator, Generator?; NULL is the absent generator     -
//   n     kw_value          Scalar, Scalar?: int, float, bool, complex or None      kw_value *
//   T     kw_tensor_list    Tensor[], Tensor?[]                                     -
//   I D B Y                 views of lists of what i, d, b, y take                  -
//   V     kw_value_list     every other list                                        -
//   v     kw_value          every other type                                        kw_value *
//   ?i ?d ?b ?c ?e ?y       pointers to const: the optional of the type             -
//   ?T ?I ?D ?B ?Y ?V       pointers to const views: the optional of the list       -
//
// NULL is None for a pointer. A return that has no letter of its own above is `v`. So `conv(Tensor
// x, Tensor? b, int[2] pad) -> Tensor` is "ttI>t", and its kernels are
//
//   kw_status conv(const kw_kernel *self, kw_keyset keys, void *x, void *b, kw_int_list pad,
//                  void **out_0);
//
// Arguments are borrowed for the call; what is returned is owned by the caller, a value as Note
// [Values and ownership] says. A kernel that fails leaves its out pointers untouched. An operator
// with "..." has no C form and is called with frames only.
//
// The plain form of a code reads `y` as `i` and `Y` as `I` among the arguments: see Note [Plain
// kernels of symbolic operators] in keyway/kernel.h.

// Bytes of the longest code: "?x" for every argument, '>', every return, the terminating zero.
#define KWI_C_SIGNATURE_BYTES (2 * KWI_SCHEMA_ARGS_MAX + 1 + KWI_SCHEMA_RETURNS_MAX + 1)

typedef enum kwi_c_form {
    KWI_C_TENSOR,
    KWI_C_INT,
    KWI_C_FLOAT,
    KWI_C_BOOL,
    KWI_C_COMPLEX,
    KWI_C_DEVICE,
    KWI_C_SYM_INT,
    KWI_C_STRING,
    KWI_C_GENERATOR,
    KWI_C_NUMBER,
    KWI_C_VALUE,
    KWI_C_TENSOR_LIST,
    KWI_C_INT_LIST,
    KWI_C_FLOAT_LIST,
    KWI_C_BOOL_LIST,
    KWI_C_SYM_INT_LIST,
    KWI_C_VALUE_LIST,
    KWI_C_OPTIONAL_INT,
    KWI_C_OPTIONAL_FLOAT,
    KWI_C_OPTIONAL_BOOL,
    KWI_C_OPTIONAL_COMPLEX,
    KWI_C_OPTIONAL_DEVICE,
    KWI_C_OPTIONAL_SYM_INT,
    KWI_C_OPTIONAL_TENSOR_LIST,
    KWI_C_OPTIONAL_INT_LIST,
    KWI_C_OPTIONAL_FLOAT_LIST,
    KWI_C_OPTIONAL_BOOL_LIST,
    KWI_C_OPTIONAL_SYM_INT_LIST,
    KWI_C_OPTIONAL_VALUE_LIST,
    KWI_C_FORM_COUNT
} kwi_c_form;

// A code, taken apart.
typedef struct kwi_c_signature {
    uint32_t arg_count;
    uint32_t return_count;
    uint8_t args[KWI_SCHEMA_ARGS_MAX];       // a kwi_c_form each
    uint8_t returns[KWI_SCHEMA_RETURNS_MAX]; // a kwi_c_form each
} kwi_c_signature;

// Writes the code of a schema; KWI_C_SIGNATURE_BYTES always suffice. KW_NOT_SUPPORTED when "..."
// leaves it without a C form, KW_INVALID_ARGUMENT when `size` is too small; `buffer` is then
// untouched.
KW_NODISCARD kw_status kwi_schema_signature(const kw_schema *schema, char *buffer, size_t size);

// Whether kernels with the code `found` may serve an operator with the code `expected`: it is the
// same, or its plain form.
bool kwi_c_signature_serves(const char *expected, const char *found);

// Spells a code as a C function type: "kw_status (const kw_kernel *, kw_keyset, void *, ...)".
// A code that does not decode is written as it is, in quotes.
void kwi_c_signature_spell(const char *code, kwi_text *text);

// Takes a code apart. KW_INVALID_ARGUMENT with the byte, or KW_TOO_MANY_ARGUMENTS.
KW_NODISCARD kw_status kwi_c_signature_decode(const char *code, kwi_c_signature *out_signature,
                                              kw_error *err);

#endif // KWI_SCHEMA_C_SIGNATURE_H
