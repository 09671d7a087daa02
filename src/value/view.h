// Views among returns: how a return that nobody owns is told from one that its caller may keep.
//
// Layer:   value
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_VALUE_VIEW_H
#define KWI_VALUE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/value.h>

#include "base/text.h"

// Bit t: a value with the tag t is a view unless it is counted.
#define KWI_VIEW_TAGS                                                                              \
    (UINT64_C(1) << KW_TAG_STRING | UINT64_C(1) << KW_TAG_TENSOR_LIST |                            \
     UINT64_C(1) << KW_TAG_INT_LIST | UINT64_C(1) << KW_TAG_FLOAT_LIST |                           \
     UINT64_C(1) << KW_TAG_BOOL_LIST | UINT64_C(1) << KW_TAG_COMPLEX |                             \
     UINT64_C(1) << KW_TAG_SYM_INT | UINT64_C(1) << KW_TAG_SYM_BOOL |                              \
     UINT64_C(1) << KW_TAG_SYM_INT_LIST | UINT64_C(1) << KW_TAG_LIST |                             \
     UINT64_C(1) << KW_TAG_TUPLE | UINT64_C(1) << KW_TAG_DICT | UINT64_C(1) << KW_TAG_OBJECT)

_Static_assert(KW_TAG_OBJECT < 64, "a tag is a bit of a word");

static inline bool kwi_value_is_view(const kw_value *value)
{
    // Most returns are told by the first test: three instructions.
    return KW_UNLIKELY((KWI_VIEW_TAGS >> (value->tag & 63) & 1) != 0) &&
           (value->flags & KW_VALUE_COUNTED) == 0;
}

// Adds the sentence about a return that is a view.
static inline void kwi_view_explain(kwi_text *text, const kw_value *value, uint32_t index)
{
    kwi_text_add(text, "return %u is a borrowed %s; return an owned one, kw_value_own()",
                 (unsigned)index + 1, kw_tag_name(value->tag));
}

#endif // KWI_VALUE_VIEW_H
