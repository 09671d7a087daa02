// Symbolic integers: one word that is an integer or a counted node.
//
// Layer:     value
// Threads:   any; a word is a plain value, a node is counted atomically.
// Stability: stable since 0.1. The layout of kw_symint is fixed for ever.
// SPDX-License-Identifier: MIT
//
// Note [Symbolic integers]
//
// An integer from KW_SYMINT_MIN on is its own word, so that an array of such integers is an array
// of symbolic integers as it stands. A word whose two highest bits are 1 and 0 is a node: the rest
// is the address of a kw_object. The integers that these words would stand for, below
// KW_SYMINT_MIN, have no symbolic form; what tries to make one gets the word with no address,
// KW_SYMINT_INVALID, which everything that reads symbolic integers reports.
//
// kw_symint_refuse() is declared here and defined in layer call, which has the thread's text.

#ifndef KW_SYMINT_H
#define KW_SYMINT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/object.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

#define KW_SYMINT_MIN (-INT64_C(0x4000000000000000))
#define KW_SYMINT_INVALID UINT64_C(0x8000000000000000)

typedef struct kw_symint {
    uint64_t word;
} kw_symint;

static_assert(sizeof(kw_symint) == 8, "the layout of a symbolic integer is fixed");
static_assert(sizeof(void *) <= 8, "an address fits the word of a symbolic integer");

// A view: what a typed kernel receives, by value, for a list of symbolic integers.
typedef struct kw_symint_list {
    const kw_symint *data;
    size_t count;
} kw_symint_list;

/// Makes a symbolic integer of an integer; KW_SYMINT_INVALID below KW_SYMINT_MIN.
static inline kw_symint kw_symint_int(int64_t integer)
{
    kw_symint symint;
    symint.word = KW_LIKELY(integer >= KW_SYMINT_MIN) ? (uint64_t)integer : KW_SYMINT_INVALID;
    return symint;
}

/// Makes a symbolic integer of a node, whose reference goes with it.
static inline kw_symint kw_symint_node(kw_object *take_node)
{
    kw_symint symint;
    symint.word = (uint64_t)(uintptr_t)take_node | KW_SYMINT_INVALID;
    return symint;
}

static inline bool kw_symint_is_int(kw_symint symint)
{
    return symint.word >> 62 != 2;
}

/// The node, borrowed from the symbolic integer; NULL if it is an integer or invalid.
static inline kw_object *kw_symint_object(kw_symint symint)
{
    uint64_t address = kw_symint_is_int(symint) ? 0 : symint.word & ~KW_SYMINT_INVALID;
    return (kw_object *)(uintptr_t)address;
}

/// Reports that a symbolic integer cannot serve where an integer is needed, as kw_fail() does.
/// `place` names it: "argument 2".
///
/// @retval KW_SYMBOLIC_VALUE  always, but for
/// @retval KW_WRONG_VALUE     the invalid word
/// @threads any
/// @since 0.1
KW_API KW_COLD kw_status kw_symint_refuse(kw_symint symint, const char *place);

/// Gets the integer. `place` names the value in the text of a failure.
///
/// @retval KW_SYMBOLIC_VALUE  it is a node
/// @retval KW_WRONG_VALUE     it is invalid
static inline KW_NODISCARD kw_status kw_symint_expect_int(kw_symint symint, const char *place,
                                                          int64_t *out_integer)
{
    if (KW_UNLIKELY(!kw_symint_is_int(symint))) {
        return kw_symint_refuse(symint, place);
    }
    *out_integer = (int64_t)symint.word;
    return KW_OK;
}

/// Takes one more reference to the node, or gives one back, if it is a node.
static inline void kw_symint_retain(kw_symint symint)
{
    kw_object_retain(kw_symint_object(symint));
}

static inline void kw_symint_release(kw_symint symint)
{
    kw_object_release(kw_symint_object(symint));
}

KW_END_DECLS

#endif // KW_SYMINT_H
