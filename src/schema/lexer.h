// Tokens of the schema language.
//
// Layer:   schema
// Threads: a lexer belongs to one thread.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_LEXER_H
#define KWI_SCHEMA_LEXER_H

#include <stdbool.h>
#include <stdint.h>

// A punctuation mark is its own kind: one of ( ) [ ] , : . * = ? ! | and -.
typedef enum kwi_token_kind {
    KWI_TOKEN_END = 256,
    KWI_TOKEN_NEWLINE, // one or more, outside all parentheses
    KWI_TOKEN_IDENTIFIER,
    KWI_TOKEN_KEYWORD, // see kwi_name_is_keyword()
    KWI_TOKEN_NUMBER,  // decimal, without its sign, with its "j"
    KWI_TOKEN_STRING,  // with its quotes
    KWI_TOKEN_ARROW,   // ->
    KWI_TOKEN_DOTS,    // ...
    KWI_TOKEN_BAD      // fits nowhere
} kwi_token_kind;

typedef struct kwi_token {
    int kind;
    uint32_t offset; // bytes from the start of the text
    uint32_t length;
    const char *problem; // of KWI_TOKEN_BAD: a static clause, or NULL if the token shows it
} kwi_token;

typedef struct kwi_lexer {
    const char *text; // borrowed, `length` bytes
    uint32_t length;
    uint32_t position;
    uint32_t nesting; // open parentheses and brackets: inside them a newline is a blank
} kwi_lexer;

// Stands before the first token; blanks, newlines and comments before it are skipped.
void kwi_lexer_init(kwi_lexer *lexer, const char *text, uint32_t length);

// Never fails and never moves past the end, where it answers KWI_TOKEN_END for ever.
kwi_token kwi_lexer_next(kwi_lexer *lexer);

#endif // KWI_SCHEMA_LEXER_H
