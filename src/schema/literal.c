// String literals: escapes.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/literal.h"

#include <string.h>

// The letters of escapes, and the bytes they stand for, in the same order.
static const char letters[] = "abfnrtv\\'\"";
static const char bytes[] = "\a\b\f\n\r\t\v\\'\"";

_Static_assert(sizeof letters == sizeof bytes, "a byte for each letter");

void kwi_literal_open(kwi_literal *literal, kw_text_view token)
{
    const char *data = token.data;
    bool triple = token.length >= 6 && data[1] == data[0] && data[2] == data[0];
    size_t quotes = triple ? 3 : 1;
    *literal = (kwi_literal){.at = data + quotes, .end = data + token.length - quotes};
}

// The lexer has checked that an escape is whole.
int kwi_literal_next(kwi_literal *literal)
{
    if (literal->at == literal->end) {
        return -1;
    }
    const char *at = literal->at;
    if (at[0] != '\\') {
        literal->at++;
        return (unsigned char)at[0];
    }
    const char *letter = strchr(letters, at[1]);
    if (letter != NULL) {
        literal->at += 2;
        return (unsigned char)bytes[letter - letters];
    }
    literal->at += 4;
    return (at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0');
}

static void print_byte(int byte, kwi_text *text)
{
    const char *found = byte != 0 ? strchr(bytes, byte) : NULL;
    if (found != NULL) {
        kwi_text_add(text, "\\%c", letters[found - bytes]);
    } else if (byte >= ' ' && byte <= '~') {
        kwi_text_add(text, "%c", byte);
    } else {
        kwi_text_add(text, "\\%03o", (unsigned)byte);
    }
}

void kwi_literal_print(kw_text_view token, kwi_text *text)
{
    kwi_literal literal;
    kwi_literal_open(&literal, token);
    kwi_text_add(text, "\"");
    for (int byte = kwi_literal_next(&literal); byte >= 0; byte = kwi_literal_next(&literal)) {
        print_byte(byte, text);
    }
    kwi_text_add(text, "\"");
}
