// The parser's state and its parts: declaration, types, annotations, defaults.
//
// Layer:   schema
// Threads: a parser belongs to one thread.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_PARSER_H
#define KWI_SCHEMA_PARSER_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/status.h>

#include "schema/lexer.h"
#include "schema/schema.h"

// What is read of a node.
typedef struct kwi_read_type {
    uint8_t kind; // a kw_type_kind
    bool sized;
    bool written;
    uint16_t first_child; // an index of the draft
    uint16_t child_count;
    kwi_type_more more;
} kwi_read_type;

// A node before it has its place: children are linked, and indices are those of the draft.
typedef struct kwi_draft_type {
    kwi_read_type type;
    uint16_t next; // the node's next sibling, if its parent has more children
    uint8_t height;
} kwi_draft_type;

// One argument or return, without its type. Extents lie in the schema's text.
typedef struct kwi_argument {
    kwi_extent name;         // absent: an unnamed return
    kwi_extent default_text; // absent: none; a return has none
} kwi_argument;

// Parsing needs no memory: what is read lands in a draft on the stack, and is copied at the end.
typedef struct kwi_draft {
    kwi_span ns; // identifiers, in the text
    kwi_span base;
    kwi_span overload;
    uint32_t arg_count; // read, which may be more than the array holds
    uint32_t return_count;
    uint32_t extra; // offset of the first argument or return that is one too many
    uint32_t type_count;
    uint32_t more_count;   // of them, nodes that have a kwi_type_more
    uint32_t keyword_from; // the first argument behind "*"; KWI_SCHEMA_ARGS_MAX without one
    bool vararg;
    bool varret;
    kwi_argument args[KWI_SCHEMA_ARGS_MAX];
    kwi_argument returns[KWI_SCHEMA_RETURNS_MAX];
    uint16_t arg_types[KWI_SCHEMA_ARGS_MAX];
    uint16_t return_types[KWI_SCHEMA_RETURNS_MAX];
    kwi_draft_type types[KWI_TYPE_NODES_MAX];
} kwi_draft;

_Static_assert(sizeof(kwi_draft) < 16384, "a draft lies on the stack");

// Parsing functions return false once they have failed; `status` and `err` then say why, and the
// caller returns false in turn. Spans count from the first token, error positions from the text.
typedef struct kwi_parser {
    kwi_lexer lexer;
    kwi_token token; // not yet taken
    uint32_t start;  // offset of the first token
    uint32_t end;    // end of the token taken last
    uint32_t depth;  // of types around the one being read
    kwi_draft *draft;
    kw_status status;
    kw_error *err;
} kwi_parser;

// Only the arrays of `draft` may be anything.
void kwi_parser_init(kwi_parser *parser, const char *text, uint32_t length, kwi_draft *draft,
                     kw_error *err);

// Takes the token if it is of that kind.
bool kwi_parser_take(kwi_parser *parser, int kind);

// Takes a token of that kind, or fails saying what was expected.
bool kwi_parser_expect(kwi_parser *parser, int kind, const char *expected);

bool kwi_parser_fail(kwi_parser *parser, const char *expected);

// Fails at a place of its own: "at byte N: ...".
bool kwi_parser_fail_at(kwi_parser *parser, uint32_t offset, const char *format, ...)
    KW_PRINTF(3, 4);

// After a failure: it has a status of its own.
void kwi_parser_set_status(kwi_parser *parser, kw_status status);

// The tokens taken from `offset` on.
kwi_span kwi_parser_span(const kwi_parser *parser, uint32_t offset);
kwi_extent kwi_parser_extent(const kwi_parser *parser, uint32_t offset);
bool kwi_parser_token_is(const kwi_parser *parser, const char *word);

// Reads the whole declaration into the draft.
bool kwi_parse_declaration(kwi_parser *parser);

// Reads a type of an argument or return, with its annotations.
bool kwi_parse_type(kwi_parser *parser, uint16_t *out_type);

// The same without the list of a size, which cannot stand inside another type; and without any list
// and optional.
bool kwi_parse_type_inside(kwi_parser *parser, uint16_t *out_type);
bool kwi_parse_base(kwi_parser *parser, uint16_t *out_type);

// Reads an annotation behind a type, if there is one.
bool kwi_parse_alias(kwi_parser *parser, kwi_read_type *type);

// Reads what follows "=" and checks it against the argument's type.
bool kwi_parse_default(kwi_parser *parser, uint16_t type, kwi_extent *out_text);

// What a type is made of, while it is read. Zeroed: nothing.
typedef struct kwi_type_list {
    uint16_t first;
    uint16_t last;
    uint16_t count;
    uint8_t height; // of the highest
} kwi_type_list;

kwi_draft_type *kwi_draft_node(const kwi_parser *parser, uint16_t type);

// Adds a node. Fails at `offset` beyond the limits of schema/type.h.
bool kwi_draft_add(kwi_parser *parser, uint32_t offset, kw_type_kind kind,
                   const kwi_type_list *children, uint16_t *out_type);
void kwi_draft_append(kwi_parser *parser, kwi_type_list *list, uint16_t type);

// Puts a list or an optional around a type.
bool kwi_draft_wrap(kwi_parser *parser, uint32_t offset, kw_type_kind kind, uint16_t *type);

// Bytes of the whole name without blanks.
size_t kwi_draft_name_length(const kwi_draft *draft);

// Whether a node has what few have.
bool kwi_draft_has_more(const kwi_read_type *type);

// Copies the nodes to where they belong, in a schema of which all but the masks is set.
void kwi_draft_place(const kwi_draft *draft, kw_schema *schema);

#endif // KWI_SCHEMA_PARSER_H
