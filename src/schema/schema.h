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
#include <string.h>

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

// One argument or return, without its type: places in the schema's text.
typedef struct kwi_place {
    uint16_t name; // 0: an unnamed return
    uint16_t default_at;
    uint16_t default_length; // 0: it has no default
} kwi_place;

// D1  The text is the declaration from its first to its last token, and parses to an equal schema.
// D2  The name is in the spelling that kwi_name_check() accepts, whatever blanks the text has.
// D3  arg_count <= KWI_SCHEMA_ARGS_MAX and return_count <= KWI_SCHEMA_RETURNS_MAX.
// D4  Bit i of `tensor_mask` is set exactly if argument i is Tensor, Tensor?, Tensor[] or
//     Tensor?[]; a sized list counts as a list. Bit i of `generator_mask` is set exactly if it is
//     Generator or Generator?. Those contribute keys in a boxed call.
// D5  Behind these members, without gaps, lie the types (see T1 in schema/type.h), what few of them
//     have, the places of the arguments and then of the returns, the name and the text, both with a
//     terminating zero.
struct kw_schema {
    uint64_t tensor_mask;
    uint64_t generator_mask;
    uint32_t text_length;
    uint16_t type_count;
    uint16_t more_count;
    uint8_t arg_count;
    uint8_t return_count;
    uint8_t keyword_from; // arguments from this one on are keyword-only
    uint8_t vararg : 1;   // "..." ends the arguments
    uint8_t varret : 1;   // "..." ends the returns
};

// Where the types lie: there may be bytes that only align a whole one.
#define KWI_SCHEMA_HEAD_BYTES (offsetof(kw_schema, keyword_from) + 2)

_Static_assert(KWI_SCHEMA_HEAD_BYTES % _Alignof(kwi_type_more) == 0, "D5 without gaps");

static inline const kw_type *kwi_schema_types(const kw_schema *schema)
{
    return (const kw_type *)(const void *)((const char *)schema + KWI_SCHEMA_HEAD_BYTES);
}

static inline const kwi_type_more *kwi_schema_more(const kw_schema *schema)
{
    return (const kwi_type_more *)(const void *)(kwi_schema_types(schema) + schema->type_count);
}

static inline const kwi_place *kwi_schema_places(const kw_schema *schema)
{
    return (const kwi_place *)(const void *)(kwi_schema_more(schema) + schema->more_count);
}

static inline const char *kwi_schema_name(const kw_schema *schema)
{
    return (const char *)(kwi_schema_places(schema) + schema->arg_count + schema->return_count);
}

static inline const char *kwi_schema_text(const kw_schema *schema)
{
    const char *name = kwi_schema_name(schema);
    return name + strlen(name) + 1;
}

// The text from the parenthesis that follows the name: what to put behind another name.
static inline const char *kwi_schema_text_of_args(const kw_schema *schema)
{
    return strchr(kwi_schema_text(schema), '(');
}

// Bytes from the schema's start to the end of its text.
static inline size_t kwi_schema_bytes(const kw_schema *schema)
{
    return (size_t)(kwi_schema_text(schema) - (const char *)schema) + schema->text_length + 1;
}

// The name and the default of an argument or, from arg_count on, of a return; nothing if it has
// none.
kw_text_view kwi_schema_arg_name(const kw_schema *schema, uint32_t index);
kw_text_view kwi_schema_arg_default(const kw_schema *schema, uint32_t index);

static inline bool kwi_schema_is_keyword(const kw_schema *schema, uint32_t index)
{
    return index >= schema->keyword_from && index < schema->arg_count;
}

static inline const kw_type *kwi_schema_return_type(const kw_schema *schema, uint32_t index)
{
    return &kwi_schema_types(schema)[schema->arg_count + index];
}

// A schema as a part of something larger.
typedef struct kwi_schema_room {
    size_t before; // bytes in front of it, a multiple of 8
    size_t behind; // bytes behind it, at the next multiple of 8
    void *block;   // made: all of it, zeroed but for the schema
} kwi_schema_room;

// Parses as kw_schema_parse() does, into one allocation, which whoever frees it computes the size
// of.
kw_status kwi_schema_parse_within(const char *text, kwi_schema_room *room, kw_error *err);

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
