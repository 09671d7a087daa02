// Schemas: one operator's declaration, parsed, compared and reduced to what calls need.
//
// Layer:   schema
// Threads: a schema is immutable once parsed; any thread may read it.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_SCHEMA_H
#define KWI_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/schema.h>
#include <keyway/status.h>

#include "base/text.h"
#include "schema/name.h"
#include "schema/type.h"

// The longest text of a schema, without its terminating zero.
#define KWI_SCHEMA_TEXT_MAX 65536

// What a frame can hold; layer value asserts that it agrees.
#define KWI_SCHEMA_ARGS_MAX 64
#define KWI_SCHEMA_RETURNS_MAX 16

// One argument or return, without its type. Extents lie in the schema's text.
typedef struct kwi_argument {
    kwi_extent name;         // absent: an unnamed return
    kwi_extent default_text; // absent: none; a return has none
    bool keyword_only;
    bool written; // by the outermost annotation of its type
} kwi_argument;

// D1  `text` is the declaration from its first to its last token, and parses to an equal schema.
// D2  `name` is in the spelling that kwi_name_check() accepts, whatever blanks the text has.
// D3  arg_count <= KWI_SCHEMA_ARGS_MAX and return_count <= KWI_SCHEMA_RETURNS_MAX.
// D4  Bit i of `tensor_mask` is set exactly if argument i is Tensor, Tensor?, Tensor[] or
//     Tensor?[]; a sized list counts as a list. Bit i of `generator_mask` is set exactly if it is
//     Generator or Generator?. Those contribute keys in a boxed call.
// D5  `args` are followed by the returns; types[i] is the type of args[i]. See T1 in schema/type.h.
struct kw_schema {
    const char *text;
    const char *name;
    const kwi_argument *args;
    uint64_t tensor_mask;
    uint64_t generator_mask;
    uint32_t text_length;
    uint32_t bytes; // of this block, which holds everything above
    uint8_t arg_count;
    uint8_t return_count;
    bool vararg; // "..." ends the arguments
    bool varret; // "..." ends the returns
    kw_type types[];
};

static inline const kw_type *kwi_schema_return_type(const kw_schema *schema, uint32_t index)
{
    return &schema->types[schema->arg_count + index];
}

// Do both declare the same? Names, types, annotations, defaults by value, marks; not spelling. If
// not and `reason` is not NULL, a clause is added that says what differs first.
bool kwi_schema_equal(const kw_schema *a, const kw_schema *b, kwi_text *reason);

// Would a kernel with schema `found` serve an operator with schema `expected`? Compares counts
// and types, see kwi_type_compatible(); names, defaults, annotations, sizes of lists and varargs do
// not count. If not and `reason` is not NULL, a clause says what differs first.
bool kwi_schema_compatible(const kw_schema *expected, const kw_schema *found, kwi_text *reason);

// The same, as a status: KW_OK, or the one of what differs first: KW_ARGUMENT_COUNT_MISMATCH,
// KW_RETURN_COUNT_MISMATCH, KW_ARGUMENT_TYPE_MISMATCH, KW_RETURN_TYPE_MISMATCH.
kw_status kwi_schema_mismatch(const kw_schema *expected, const kw_schema *found, kwi_text *reason);

#endif // KWI_SCHEMA_SCHEMA_H
