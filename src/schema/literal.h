// String literals: the bytes they stand for, and how bytes are written as one.
//
// Layer:   schema
// Threads: a reader belongs to one thread.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_LITERAL_H
#define KWI_SCHEMA_LITERAL_H

#include <stddef.h>

#include <keyway/schema.h>

#include "base/text.h"

typedef struct kwi_literal {
    const char *at;
    const char *end; // the closing quotes
} kwi_literal;

// Stands before the first byte of a KWI_TOKEN_STRING.
void kwi_literal_open(kwi_literal *literal, kw_text_view token);

// The next byte, or -1 at the end.
int kwi_literal_next(kwi_literal *literal);

// Adds a literal for the same bytes, in ASCII and on one line.
void kwi_literal_print(kw_text_view token, kwi_text *text);

#endif // KWI_SCHEMA_LITERAL_H
