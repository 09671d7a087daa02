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

#include <keyway/status.h>

#include "base/text.h"
#include "schema/name.h"
#include "schema/type.h"

// The longest text of a schema, without its terminating zero.
#define KWI_SCHEMA_TEXT_MAX 65536

// What a frame can hold; layer value asserts that it agrees.
#define KWI_SCHEMA_ARGS_MAX 64
#define KWI_SCHEMA_RETURNS_MAX 16

// One argument or return. Spans lie in the schema's text; an absent one has length 0.
typedef struct kwi_argument {
    kwi_type type;
    kwi_span name;          // absent: an unnamed return
    kwi_span default_value; // absent: none; a return has none
    kwi_span alias;         // of the base type, with its parentheses, or "!"
    kwi_span list_alias;    // of the list, after its brackets
    bool keyword_only;
    bool written; // the outermost annotation has "!"; a list without one of its own inherits
} kwi_argument;

// D1  `text` is the declaration from its first to its last token, and parses to an equal schema.
// D2  `name` is in the spelling that kwi_name_check() accepts, whatever blanks the text has.
// D3  arg_count <= KWI_SCHEMA_ARGS_MAX and return_count <= KWI_SCHEMA_RETURNS_MAX.
// D4  Bit i of `tensor_mask` is set exactly if argument i is Tensor, Tensor?, Tensor[] or
//     Tensor?[]; a sized list counts as a list. Bit i of `generator_mask` is set exactly if it is
//     Generator or Generator?. Those contribute keys in a boxed call.
typedef struct kwi_schema {
    const char *text;
    const char *name;
    kwi_name name_parts; // spans in `name`
    uint32_t arg_count;
    uint32_t return_count;
    const kwi_argument *args;
    const kwi_argument *returns;
    uint64_t tensor_mask;
    uint64_t generator_mask;
    bool vararg;  // "..." ends the arguments
    bool varret;  // "..." ends the returns
    size_t bytes; // of this block, which holds everything above
} kwi_schema;

// Parses one declaration. `*out_schema` is owned by the caller; on failure it is untouched, nothing
// stays allocated, and `err` says "at byte N: expected X but found Y".
//
// KW_MALFORMED_SCHEMA, KW_TOO_MANY_ARGUMENTS (of returns too), KW_NO_MEMORY.
KW_NODISCARD kw_status kwi_schema_parse(const char *text, kwi_schema **out_schema, kw_error *err);
void kwi_schema_destroy(kwi_schema *take_schema);

// Are the declarations the same but for blanks and comments? If not and `reason` is not NULL, a
// clause is added that says where they part.
bool kwi_schema_equal(const kwi_schema *a, const kwi_schema *b, kwi_text *reason);

// Would a kernel with schema `found` serve an operator with schema `expected`? Compares counts
// and real types, with symbolic integers as integers; names, defaults, annotations, sizes of lists
// and varargs do not count. If not and `reason` is not NULL, a clause says what differs first.
bool kwi_schema_compatible(const kwi_schema *expected, const kwi_schema *found, kwi_text *reason);

// The same, as a status: KW_OK, or the one of what differs first: KW_ARGUMENT_COUNT_MISMATCH,
// KW_RETURN_COUNT_MISMATCH, KW_ARGUMENT_TYPE_MISMATCH, KW_RETURN_TYPE_MISMATCH.
kw_status kwi_schema_mismatch(const kwi_schema *expected, const kwi_schema *found,
                              kwi_text *reason);

#endif // KWI_SCHEMA_SCHEMA_H
