// Types of the schema language: a named base, an optional, a list of one level.
//
// Layer:   schema
// Threads: any; a type is a plain value.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_TYPE_H
#define KWI_SCHEMA_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

// One list makes the enumerators, the words and the value a base is boxed as: the *fake* type.
#define KWI_TYPE_LIST(X)                                                                           \
    X(TENSOR, "Tensor", TENSOR)                                                                    \
    X(INT, "int", INT)                                                                             \
    X(FLOAT, "float", FLOAT)                                                                       \
    X(BOOL, "bool", BOOL)                                                                          \
    X(STRING, "str", STRING)                                                                       \
    X(COMPLEX, "complex", COMPLEX)                                                                 \
    X(SCALAR, "Scalar", SCALAR)                                                                    \
    X(SYM_INT, "SymInt", INT)                                                                      \
    X(SYM_BOOL, "SymBool", SYM_BOOL)                                                               \
    X(SCALAR_TYPE, "ScalarType", INT)                                                              \
    X(LAYOUT, "Layout", INT)                                                                       \
    X(MEMORY_FORMAT, "MemoryFormat", INT)                                                          \
    X(DEVICE, "Device", DEVICE)                                                                    \
    X(DEVICE_INDEX, "DeviceIndex", INT)                                                            \
    X(GENERATOR, "Generator", GENERATOR)                                                           \
    X(STORAGE, "Storage", STORAGE)                                                                 \
    X(STREAM, "Stream", STREAM)                                                                    \
    X(QSCHEME, "QScheme", QSCHEME)                                                                 \
    X(QUANTIZER, "Quantizer", QUANTIZER)                                                           \
    X(ANY, "Any", ANY)                                                                             \
    X(ANY_CLASS, "AnyClassType", ANY_CLASS)                                                        \
    X(ANY_ENUM, "AnyEnumType", ANY_ENUM)                                                           \
    X(CAPSULE, "Capsule", CAPSULE)                                                                 \
    X(NONE, "NoneType", NONE)

typedef enum kwi_type_kind {
#define KWI_TYPE_ENUMERATOR(name, word, fake) KWI_TYPE_##name,
    KWI_TYPE_LIST(KWI_TYPE_ENUMERATOR)
#undef KWI_TYPE_ENUMERATOR
    KWI_TYPE_KIND_COUNT
} kwi_type_kind;

// Suffixes apply from the left: "int?[]" is a list of optionals, "int[]?" an optional list.
typedef struct kwi_type {
    uint8_t kind;          // a kwi_type_kind: the *real* type of the base
    bool optional;         // the whole may be None; of "X?[]" this is false
    bool list;             // one level
    bool element_optional; // "X?[]"
    bool sized;            // "X[N]"
    uint32_t list_size;    // N of a sized list, which may be 0; 0 otherwise
} kwi_type;

// Finds the kind of a base by its word, an older word for it included; false if there is none.
bool kwi_type_kind_find(const char *word, size_t length, uint8_t *out_kind);

// The word of a kind, and the kind of the value that carries it.
const char *kwi_type_kind_word(uint8_t kind);
uint8_t kwi_type_kind_fake(uint8_t kind);

// Adds the type as the language writes it.
void kwi_type_print(const kwi_type *type, kwi_text *text);

#endif // KWI_SCHEMA_TYPE_H
