// Forms: what values each letter of a C signature takes and gives.
//
// Layer:   value
// Threads: any.
// SPDX-License-Identifier: MIT

#include "value/form.h"

// Structs that are passed by value. Size and alignment are given, because libffi would compute them
// at first use, by a write that two threads could make at once.

// The list views have one layout.
#define COUNT_TYPE (sizeof(size_t) == sizeof(uint64_t) ? &ffi_type_uint64 : &ffi_type_uint32)
static ffi_type *view_members[] = {&ffi_type_pointer, COUNT_TYPE, NULL};
static ffi_type view_type = {.size = sizeof(kw_tensor_list),
                             .alignment = _Alignof(kw_tensor_list),
                             .type = FFI_TYPE_STRUCT,
                             .elements = view_members};

// A value's two eightbytes hold integers, whatever else the second one may hold.
static ffi_type *value_members[] = {&ffi_type_uint64, &ffi_type_uint64, NULL};
static ffi_type value_type = {.size = sizeof(kw_value),
                              .alignment = _Alignof(kw_value),
                              .type = FFI_TYPE_STRUCT,
                              .elements = value_members};

static ffi_type *complex_members[] = {&ffi_type_double, &ffi_type_double, NULL};
static ffi_type complex_type = {.size = sizeof(kw_complex),
                                .alignment = _Alignof(kw_complex),
                                .type = FFI_TYPE_STRUCT,
                                .elements = complex_members};

static ffi_type *device_members[] = {&ffi_type_sint32, &ffi_type_sint32, NULL};
static ffi_type device_type = {.size = sizeof(kw_device),
                               .alignment = _Alignof(kw_device),
                               .type = FFI_TYPE_STRUCT,
                               .elements = device_members};

// A struct of one 64-bit integer is passed as that integer by the calling conventions that matter,
// System V on x86-64 and AAPCS64.
_Static_assert(sizeof(kw_symint) == sizeof(uint64_t), "a symbolic integer is passed as an integer");
#define SYMINT_TYPE (&ffi_type_uint64)

#define TAG(name) (UINT64_C(1) << KW_TAG_##name)
#define INT_OR_SYMBOLIC (TAG(INT) | TAG(SYM_INT))
#define INTS_OR_SYMBOLIC (TAG(INT_LIST) | TAG(SYM_INT_LIST))
#define NUMBERS                                                                                    \
    (TAG(NONE) | TAG(INT) | TAG(FLOAT) | TAG(BOOL) | TAG(COMPLEX) | TAG(SYM_INT) | TAG(SYM_BOOL))
#define EVERYTHING                                                                                 \
    (NUMBERS | INTS_OR_SYMBOLIC | TAG(DEVICE) | TAG(STRING) | TAG(TENSOR) | TAG(TENSOR_LIST) |     \
     TAG(FLOAT_LIST) | TAG(BOOL_LIST) | TAG(GENERATOR) | TAG(LIST) | TAG(TUPLE) | TAG(DICT) |      \
     TAG(OBJECT))

// Of `y`, `Y` and `I`, and their optionals, the other one's tag.
#define LOOK(base)                                                                                 \
    ((base) == KWI_C_SYM_INT        ? TAG(INT)                                                     \
     : (base) == KWI_C_SYM_INT_LIST ? TAG(INT_LIST)                                                \
     : (base) == KWI_C_INT_LIST     ? TAG(SYM_INT_LIST)                                            \
                                    : 0)

#define PLAIN(form, word, args, returns, type)                                                     \
    [form] = {word, args, returns, LOOK(form), type, form}
#define OPTIONAL(form, base, word, args)                                                           \
    [form] = {word, TAG(NONE) | (args), 0, LOOK(base), &ffi_type_pointer, base}

const kwi_form kwi_forms[KWI_C_FORM_COUNT] = {
    PLAIN(KWI_C_TENSOR, "Tensor", TAG(TENSOR) | TAG(NONE), TAG(TENSOR) | TAG(NONE),
          &ffi_type_pointer),
    PLAIN(KWI_C_INT, "int", TAG(INT), TAG(INT), &ffi_type_sint64),
    PLAIN(KWI_C_FLOAT, "float", TAG(FLOAT) | TAG(INT), TAG(FLOAT), &ffi_type_double),
    PLAIN(KWI_C_BOOL, "bool", TAG(BOOL), TAG(BOOL), &ffi_type_uint8),
    PLAIN(KWI_C_COMPLEX, "complex", TAG(COMPLEX), TAG(COMPLEX), &complex_type),
    PLAIN(KWI_C_DEVICE, "Device", TAG(DEVICE), TAG(DEVICE), &device_type),
    PLAIN(KWI_C_SYM_INT, "SymInt", INT_OR_SYMBOLIC, INT_OR_SYMBOLIC, SYMINT_TYPE),
    PLAIN(KWI_C_STRING, "str or None", TAG(STRING) | TAG(NONE), 0, &ffi_type_pointer),
    PLAIN(KWI_C_GENERATOR, "Generator or None", TAG(GENERATOR) | TAG(NONE), 0, &ffi_type_pointer),
    PLAIN(KWI_C_NUMBER, "Scalar", NUMBERS, NUMBERS, &value_type),
    PLAIN(KWI_C_VALUE, "a value", EVERYTHING, EVERYTHING, &value_type),
    PLAIN(KWI_C_TENSOR_LIST, "Tensor[]", TAG(TENSOR_LIST), 0, &view_type),
    PLAIN(KWI_C_INT_LIST, "int[]", INTS_OR_SYMBOLIC, 0, &view_type),
    PLAIN(KWI_C_FLOAT_LIST, "float[]", TAG(FLOAT_LIST), 0, &view_type),
    PLAIN(KWI_C_BOOL_LIST, "bool[]", TAG(BOOL_LIST), 0, &view_type),
    PLAIN(KWI_C_SYM_INT_LIST, "SymInt[]", INTS_OR_SYMBOLIC, 0, &view_type),
    PLAIN(KWI_C_VALUE_LIST, "a list of values", TAG(LIST), 0, &view_type),
    OPTIONAL(KWI_C_OPTIONAL_INT, KWI_C_INT, "int or None", TAG(INT)),
    OPTIONAL(KWI_C_OPTIONAL_FLOAT, KWI_C_FLOAT, "float or None", TAG(FLOAT) | TAG(INT)),
    OPTIONAL(KWI_C_OPTIONAL_BOOL, KWI_C_BOOL, "bool or None", TAG(BOOL)),
    OPTIONAL(KWI_C_OPTIONAL_COMPLEX, KWI_C_COMPLEX, "complex or None", TAG(COMPLEX)),
    OPTIONAL(KWI_C_OPTIONAL_DEVICE, KWI_C_DEVICE, "Device or None", TAG(DEVICE)),
    OPTIONAL(KWI_C_OPTIONAL_SYM_INT, KWI_C_SYM_INT, "SymInt or None", INT_OR_SYMBOLIC),
    OPTIONAL(KWI_C_OPTIONAL_TENSOR_LIST, KWI_C_TENSOR_LIST, "Tensor[] or None", TAG(TENSOR_LIST)),
    OPTIONAL(KWI_C_OPTIONAL_INT_LIST, KWI_C_INT_LIST, "int[] or None", INTS_OR_SYMBOLIC),
    OPTIONAL(KWI_C_OPTIONAL_FLOAT_LIST, KWI_C_FLOAT_LIST, "float[] or None", TAG(FLOAT_LIST)),
    OPTIONAL(KWI_C_OPTIONAL_BOOL_LIST, KWI_C_BOOL_LIST, "bool[] or None", TAG(BOOL_LIST)),
    OPTIONAL(KWI_C_OPTIONAL_SYM_INT_LIST, KWI_C_SYM_INT_LIST, "SymInt[] or None", INTS_OR_SYMBOLIC),
    OPTIONAL(KWI_C_OPTIONAL_VALUE_LIST, KWI_C_VALUE_LIST, "a list of values or None", TAG(LIST)),
};

static bool has_node(const kw_value *value)
{
    for (uint32_t i = 0; i < value->count; i++) {
        if (kw_symint_object(value->as.as_symints[i]) != NULL) {
            return true;
        }
    }
    return false;
}

// A SymInt[] for a function that takes int[].
static kw_status look_for_nodes(const kw_value *value, const char **out_clause)
{
    const void *words = value->as.as_symints;
    if (kwi_words_are_integers(words, value->count)) {
        return KW_OK;
    }
    if (has_node(value)) {
        *out_clause = "holds a symbolic integer";
        return KW_SYMBOLIC_VALUE;
    }
    *out_clause = "holds an invalid symbolic integer";
    return KW_WRONG_VALUE;
}

kw_status kwi_form_look_into(uint8_t form, const kw_value *value, const char **out_clause)
{
    const void *words = value->as.as_ints;
    switch (kwi_forms[form].base) {
    case KWI_C_INT_LIST:
        return look_for_nodes(value, out_clause);
    case KWI_C_SYM_INT:
        *out_clause = "is an integer below -2^62, which has no symbolic form";
        return value->as.as_int >= KW_SYMINT_MIN ? KW_OK : KW_WRONG_VALUE;
    default: // KWI_C_SYM_INT_LIST
        *out_clause = "holds an integer below -2^62, which has no symbolic form";
        return kwi_words_are_integers(words, value->count) ? KW_OK : KW_WRONG_VALUE;
    }
}
