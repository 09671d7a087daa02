// The parser's state and its parts: declaration, types, defaults.
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

// Parsing needs no memory: what is read lands in a draft on the stack, and is copied at the end.
typedef struct kwi_draft {
    kwi_span ns; // identifiers, in the text
    kwi_span base;
    kwi_span overload;
    uint32_t arg_count; // read, which may be more than the array holds
    uint32_t return_count;
    bool vararg;
    bool varret;
    kwi_argument args[KWI_SCHEMA_ARGS_MAX];
    kwi_argument returns[KWI_SCHEMA_RETURNS_MAX];
} kwi_draft;

// Parsing functions return false once they have failed; `status` and `err` then say why, and the
// caller returns false in turn. Spans count from the first token, error positions from the text.
typedef struct kwi_parser {
    kwi_lexer lexer;
    kwi_token token; // not yet taken
    uint32_t start;  // offset of the first token
    uint32_t end;    // end of the token taken last
    kw_status status;
    kw_error *err;
} kwi_parser;

void kwi_parser_init(kwi_parser *parser, const char *text, kw_error *err);

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
bool kwi_parser_token_is(const kwi_parser *parser, const char *word);

// Reads a type with its annotations into the members of `argument` that describe them.
bool kwi_parse_type(kwi_parser *parser, kwi_argument *argument);

// Reads what follows "=" and checks it against the argument's type.
bool kwi_parse_default(kwi_parser *parser, kwi_argument *argument);

#endif // KWI_SCHEMA_PARSER_H
