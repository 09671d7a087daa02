// Types of the schema language: a tree of nodes, their words and their relations.
//
// Layer:   schema
// Threads: any; types are immutable once their schema is parsed.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_TYPE_H
#define KWI_SCHEMA_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/schema.h>

#include "base/text.h"

// What bounds the work on one schema: its nodes, and the recursion over them.
#define KWI_TYPE_NODES_MAX 512
#define KWI_TYPE_DEPTH_MAX 32

// The types without parts: kind, word, and the kind of value that carries one, the *fake* type.
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

// A piece of a schema's text, which is short enough. Absent: both are 0.
typedef struct kwi_extent {
    uint16_t offset;
    uint16_t length;
} kwi_extent;

// What few nodes have.
typedef struct kwi_type_more {
    union {
        uint32_t list_size; // of a sized list, which may be 0; 0 of other lists
        kwi_extent name;    // of a class or a type variable
    };
    kwi_extent alias; // with its parentheses, or "!"
} kwi_type_more;

// T1  The nodes of a schema lie in one array; `index` is a node's place in it. The first ones are
//     the types of the arguments, then of the returns, in order.
// T2  The children of a node lie side by side, behind the node.
// T3  The members of a union are in the order of kwi_type_order(), each once.
// T4  A list with a size is the type of an argument or return, or an optional's that is one.
struct kw_type {
    uint16_t kind : 6; // a kw_type_kind: the *real* type
    uint16_t index : 10;
    uint16_t first_child : 10; // an index
    uint16_t sized : 1;        // of a list
    uint16_t written : 1;      // its own annotation has "!"
    uint16_t child_count : 10;
    uint16_t more : 10; // number of its kwi_type_more in the schema, counted from 1; 0: it has none
};

_Static_assert(sizeof(kw_type) == 8, "memory of an operator: one node for each part of a type");
_Static_assert(KWI_TYPE_NODES_MAX < 1 << 10, "an index or count fits ten bits");

static inline const kw_type *kwi_type_child(const kw_type *type, uint32_t index)
{
    return type + (type->first_child - type->index) + (int)index;
}

// All of it 0 where the node has none.
const kwi_type_more *kwi_type_more_of(const kw_type *type);

// The text of the schema that a type is part of.
const char *kwi_type_text(const kw_type *type);

// Finds the kind of a type without parts by its word, an older word for it included; false if
// there is none.
bool kwi_type_kind_find(const char *word, size_t length, kw_type_kind *out_kind);

// The word of a kind without parts, or of one that is written "Word(...)"; NULL otherwise.
const char *kwi_type_kind_word(kw_type_kind kind);

// The kind of the value that carries a type.
kw_type_kind kwi_type_kind_fake(kw_type_kind kind);

// Adds the type as the language writes it, with its annotations if asked.
void kwi_type_print(const kw_type *type, bool annotated, kwi_text *text);

// Are two types the same, with annotations and sizes?
bool kwi_type_equal(const kw_type *a, const kw_type *b);

// Does a value of one fit the other? Symbolic integers and indices of devices are integers;
// annotations and sizes do not count.
bool kwi_type_compatible(const kw_type *a, const kw_type *b);

// The order of a union's members: negative, zero or positive as `a` comes before, with, or after
// `b`. Zero is equality.
int kwi_type_order(const kw_type *a, const kw_type *b);

// Is the type written, by its outermost annotation?
bool kwi_type_is_written(const kw_type *type);

#endif // KWI_SCHEMA_TYPE_H
