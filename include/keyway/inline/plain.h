// Plain integers for symbolic ones, and back: what checking thunks and plain calls are made of.
//
// Layer:     call
// Threads:   any. Nothing here allocates.
// Stability: inline tier: recompile for each layout number.
// SPDX-License-Identifier: MIT
//
// See Note [Plain kernels of symbolic operators] in keyway/kernel.h. Both kinds of integers are
// words of the same size, so a list is converted by looking at it. Arguments are numbered from 0
// here, from 1 in texts.

#ifndef KW_INLINE_PLAIN_H
#define KW_INLINE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/status.h>
#include <keyway/symint.h>
#include <keyway/value.h>

KW_BEGIN_DECLS

/// Says that an argument is symbolic, or holds something symbolic, where a kernel takes integers.
///
/// @retval KW_SYMBOLIC_VALUE  always, but for
/// @retval KW_WRONG_VALUE     invalid words
KW_API KW_COLD kw_status kw_plain_refuse_symint(kw_symint symint, uint32_t index);
KW_API KW_COLD kw_status kw_plain_refuse_symints(kw_symint_list list, uint32_t index);

/// Says that an argument is an integer below KW_SYMINT_MIN, or holds one.
///
/// @retval KW_WRONG_VALUE  always
KW_API KW_COLD kw_status kw_plain_refuse_int(uint32_t index);
KW_API KW_COLD kw_status kw_plain_refuse_ints(uint32_t index);

// Symbolic to plain
// ----------------------------------------------------------------------------------------

static inline kw_status kw_plain_of_symint(kw_symint symint, uint32_t index, int64_t *out)
{
    *out = (int64_t)symint.word;
    return KW_LIKELY(kw_symint_is_int(symint)) ? KW_OK : kw_plain_refuse_symint(symint, index);
}

static inline kw_status kw_plain_of_symints(kw_symint_list list, uint32_t index, kw_int_list *out)
{
    bool are_ints = true;
    for (size_t i = 0; i < list.count; i++) {
        are_ints &= kw_symint_is_int(list.data[i]);
    }
    out->data = (const int64_t *)(const void *)list.data;
    out->count = list.count;
    return KW_LIKELY(are_ints) ? KW_OK : kw_plain_refuse_symints(list, index);
}

static inline kw_status kw_plain_of_optional_symint(const kw_symint *symint, uint32_t index,
                                                    int64_t *place, const int64_t **out)
{
    *out = symint != NULL ? place : NULL;
    return symint != NULL ? kw_plain_of_symint(*symint, index, place) : KW_OK;
}

static inline kw_status kw_plain_of_optional_symints(const kw_symint_list *list, uint32_t index,
                                                     kw_int_list *place, const kw_int_list **out)
{
    *out = list != NULL ? place : NULL;
    return list != NULL ? kw_plain_of_symints(*list, index, place) : KW_OK;
}

// Plain to symbolic
// ----------------------------------------------------------------------------------------

static inline kw_status kw_plain_to_symint(int64_t integer, uint32_t index, kw_symint *out)
{
    *out = kw_symint_int(integer);
    return KW_LIKELY(kw_symint_is_int(*out)) ? KW_OK : kw_plain_refuse_int(index);
}

static inline kw_status kw_plain_to_symints(kw_int_list list, uint32_t index, kw_symint_list *out)
{
    bool are_symints = true;
    for (size_t i = 0; i < list.count; i++) {
        are_symints &= list.data[i] >= KW_SYMINT_MIN;
    }
    out->data = (const kw_symint *)(const void *)list.data;
    out->count = list.count;
    return KW_LIKELY(are_symints) ? KW_OK : kw_plain_refuse_ints(index);
}

static inline kw_status kw_plain_to_optional_symint(const int64_t *integer, uint32_t index,
                                                    kw_symint *place, const kw_symint **out)
{
    *out = integer != NULL ? place : NULL;
    return integer != NULL ? kw_plain_to_symint(*integer, index, place) : KW_OK;
}

static inline kw_status kw_plain_to_optional_symints(const kw_int_list *list, uint32_t index,
                                                     kw_symint_list *place,
                                                     const kw_symint_list **out)
{
    *out = list != NULL ? place : NULL;
    return list != NULL ? kw_plain_to_symints(*list, index, place) : KW_OK;
}

KW_END_DECLS

#endif // KW_INLINE_PLAIN_H
