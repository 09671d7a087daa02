// Tokens of the schema language: one pass over the bytes, no tables, no locale.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/lexer.h"

#include <string.h>

#include "schema/name.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_ascii(char c)
{
    return (unsigned char)c < 0x80;
}

static kwi_token token(int kind, uint32_t offset, uint32_t length)
{
    return (kwi_token){.kind = kind, .offset = offset, .length = length};
}

static kwi_token bad(uint32_t offset, uint32_t length, const char *problem)
{
    return (kwi_token){
        .kind = KWI_TOKEN_BAD, .offset = offset, .length = length, .problem = problem};
}

// Skips blanks and comments. A comment stops at a byte outside ASCII, which the next token reports.
static bool skip(kwi_lexer *lexer, bool newlines)
{
    const char *text = lexer->text;
    bool newline_seen = false;
    for (;;) {
        char c = text[lexer->position];
        if (c == '#') {
            while (text[lexer->position] != '\0' && text[lexer->position] != '\n' &&
                   is_ascii(text[lexer->position])) {
                lexer->position++;
            }
        } else if (is_blank(c) || (c == '\n' && newlines)) {
            newline_seen = newline_seen || c == '\n';
            lexer->position++;
        } else {
            return newline_seen;
        }
    }
}

void kwi_lexer_init(kwi_lexer *lexer, const char *text)
{
    *lexer = (kwi_lexer){.text = text};
    (void)skip(lexer, true);
}

static uint32_t digits(const char *text)
{
    uint32_t length = 0;
    while (is_digit(text[length])) {
        length++;
    }
    return length;
}

// Digits with at most one point, an exponent, "j". Letters that follow at once are an error and
// not a second token: 0x10, 0b1 and 1_000 would otherwise read as something else than they say.
static kwi_token number(const char *text, uint32_t offset)
{
    const char *start = text + offset;
    uint32_t length = digits(start);
    if (start[length] == '.') {
        length += 1 + digits(start + length + 1);
    }
    if (start[length] == 'e' || start[length] == 'E') {
        uint32_t sign = start[length + 1] == '+' || start[length + 1] == '-' ? 1 : 0;
        uint32_t exponent = digits(start + length + 1 + sign);
        length += exponent > 0 ? 1 + sign + exponent : 0;
    }
    if (start[length] == 'j') {
        length++;
    }
    if (!kwi_name_continues_with(start[length])) {
        return token(KWI_TOKEN_NUMBER, offset, length);
    }
    while (kwi_name_continues_with(start[length])) {
        length++;
    }
    return bad(offset, length, "a number with letters in it");
}

// The length of the escape at `escape`, which is a backslash; 0 if there is none such.
static uint32_t escape_length(const char *escape)
{
    if (escape[1] != '\0' && strchr("\\'\"abfnrtv", escape[1]) != NULL) {
        return 2;
    }
    bool octal = is_octal(escape[1]) && is_octal(escape[2]) && is_octal(escape[3]);
    return octal && escape[1] <= '3' ? 4 : 0;
}

static bool closes(const char *at, char quote, uint32_t quotes)
{
    return at[0] == quote && (quotes == 1 || (at[1] == quote && at[2] == quote));
}

static kwi_token string(const char *text, uint32_t offset)
{
    const char *start = text + offset;
    char quote = start[0];
    uint32_t quotes = closes(start, quote, 3) ? 3 : 1;
    uint32_t at = quotes;
    while (!closes(start + at, quote, quotes)) {
        char c = start[at];
        if (c == '\0' || (c == '\n' && quotes == 1)) {
            return bad(offset, at, "a string without its end");
        }
        if (!is_ascii(c)) {
            return bad(offset + at, 1, "a byte outside ASCII");
        }
        uint32_t step = c == '\\' ? escape_length(start + at) : 1;
        if (step == 0) {
            return bad(offset + at, 1, "an escape that the language does not have");
        }
        at += step;
    }
    return token(KWI_TOKEN_STRING, offset, at + quotes);
}

static kwi_token word(const char *text, uint32_t offset)
{
    uint32_t length = 1;
    while (kwi_name_continues_with(text[offset + length])) {
        length++;
    }
    bool keyword = kwi_name_is_keyword(text + offset, length);
    return token(keyword ? KWI_TOKEN_KEYWORD : KWI_TOKEN_IDENTIFIER, offset, length);
}

static kwi_token mark(const char *text, uint32_t offset)
{
    const char *start = text + offset;
    if (strncmp(start, "->", 2) == 0) {
        return token(KWI_TOKEN_ARROW, offset, 2);
    }
    if (strncmp(start, "...", 3) == 0) {
        return token(KWI_TOKEN_DOTS, offset, 3);
    }
    if (strchr("()[],:.*=?!|-", start[0]) != NULL) {
        return token(start[0], offset, 1);
    }
    if (!is_ascii(start[0])) {
        return bad(offset, 1, "a byte outside ASCII");
    }
    return bad(offset, 1, start[0] > ' ' && start[0] <= '~' ? NULL : "a control character");
}

static kwi_token scan(const kwi_lexer *lexer)
{
    const char *text = lexer->text;
    uint32_t offset = lexer->position;
    char c = text[offset];
    if (c == '\0') {
        return token(KWI_TOKEN_END, offset, 0);
    }
    if (is_digit(c) || (c == '.' && is_digit(text[offset + 1]))) {
        return number(text, offset);
    }
    if (kwi_name_starts_with(c)) {
        return word(text, offset);
    }
    return c == '\'' || c == '"' ? string(text, offset) : mark(text, offset);
}

kwi_token kwi_lexer_next(kwi_lexer *lexer)
{
    (void)skip(lexer, lexer->nesting > 0);
    uint32_t offset = lexer->position;
    if (lexer->text[offset] == '\n') {
        (void)skip(lexer, true);
        return token(KWI_TOKEN_NEWLINE, offset, 1);
    }
    kwi_token next = scan(lexer);
    lexer->position = next.offset + next.length;
    if (next.kind == '(' || next.kind == '[') {
        lexer->nesting++;
    } else if ((next.kind == ')' || next.kind == ']') && lexer->nesting > 0) {
        lexer->nesting--;
    }
    return next;
}
