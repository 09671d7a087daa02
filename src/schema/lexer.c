// Tokens of the schema language: one pass over the bytes, no tables, no locale.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/lexer.h"

#include <string.h>

#include "schema/name.h"
#include "schema/utf8.h"

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

// The byte at a place, 0 behind the end. A zero byte in the text ends every token as the end does.
static char at(const kwi_lexer *lexer, uint32_t position)
{
    return position < lexer->length ? lexer->text[position] : '\0';
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

static uint32_t character(const kwi_lexer *lexer, uint32_t position)
{
    return kwi_utf8_length(lexer->text + position, lexer->length - position);
}

// The end of a comment: a newline, or a byte that the next token reports.
static uint32_t comment_end(const kwi_lexer *lexer)
{
    uint32_t position = lexer->position;
    while (at(lexer, position) != '\0' && at(lexer, position) != '\n' &&
           character(lexer, position) > 0) {
        position += character(lexer, position);
    }
    return position;
}

// Skips blanks and comments.
static bool skip(kwi_lexer *lexer, bool newlines)
{
    bool newline_seen = false;
    for (;;) {
        char c = at(lexer, lexer->position);
        if (c == '#') {
            lexer->position = comment_end(lexer);
        } else if (is_blank(c) || (c == '\n' && newlines)) {
            newline_seen = newline_seen || c == '\n';
            lexer->position++;
        } else {
            return newline_seen;
        }
    }
}

void kwi_lexer_init(kwi_lexer *lexer, const char *text, uint32_t length)
{
    *lexer = (kwi_lexer){.text = text, .length = length};
    (void)skip(lexer, true);
}

// The end of the digits from a place on.
static uint32_t digits_end(const kwi_lexer *lexer, uint32_t position)
{
    while (is_digit(at(lexer, position))) {
        position++;
    }
    return position;
}

static uint32_t exponent_end(const kwi_lexer *lexer, uint32_t position)
{
    char mark = at(lexer, position);
    char sign = at(lexer, position + 1);
    if (mark != 'e' && mark != 'E') {
        return position;
    }
    uint32_t start = position + (sign == '+' || sign == '-' ? 2 : 1);
    uint32_t end = digits_end(lexer, start);
    return end > start ? end : position;
}

// Digits with at most one point, an exponent, "j". Letters that follow at once are an error and
// not a second token: 0x10, 0b1 and 1_000 would otherwise read as something else than they say.
static kwi_token number(const kwi_lexer *lexer, uint32_t offset)
{
    uint32_t end = digits_end(lexer, offset);
    if (at(lexer, end) == '.') {
        end = digits_end(lexer, end + 1);
    }
    end = exponent_end(lexer, end);
    if (at(lexer, end) == 'j') {
        end++;
    }
    if (!kwi_name_continues_with(at(lexer, end))) {
        return token(KWI_TOKEN_NUMBER, offset, end - offset);
    }
    while (kwi_name_continues_with(at(lexer, end))) {
        end++;
    }
    return bad(offset, end - offset, "a number with letters in it");
}

// The length of the escape at a backslash; 0 if there is none such.
static uint32_t escape_length(const kwi_lexer *lexer, uint32_t position)
{
    char first = at(lexer, position + 1);
    if (first != '\0' && strchr("\\'\"abfnrtv", first) != NULL) {
        return 2;
    }
    bool octal =
        is_octal(first) && is_octal(at(lexer, position + 2)) && is_octal(at(lexer, position + 3));
    return octal && first <= '3' ? 4 : 0;
}

static bool closes(const kwi_lexer *lexer, uint32_t position, char quote, uint32_t quotes)
{
    return at(lexer, position) == quote &&
           (quotes == 1 || (at(lexer, position + 1) == quote && at(lexer, position + 2) == quote));
}

static kwi_token string(const kwi_lexer *lexer, uint32_t offset)
{
    char quote = at(lexer, offset);
    uint32_t quotes = closes(lexer, offset, quote, 3) ? 3 : 1;
    uint32_t end = offset + quotes;
    while (!closes(lexer, end, quote, quotes)) {
        char c = at(lexer, end);
        if (c == '\0' && end < lexer->length) {
            return bad(end, 1, "a zero byte");
        }
        if (c == '\0' || (c == '\n' && quotes == 1)) {
            return bad(offset, end - offset, "a string without its end");
        }
        uint32_t step = c == '\\' ? escape_length(lexer, end) : character(lexer, end);
        if (step == 0) {
            return bad(end, 1,
                       c == '\\' ? "an escape that the language does not have"
                                 : "a byte that is not UTF-8");
        }
        end += step;
    }
    return token(KWI_TOKEN_STRING, offset, end + quotes - offset);
}

static kwi_token word(const kwi_lexer *lexer, uint32_t offset)
{
    uint32_t end = offset + 1;
    while (kwi_name_continues_with(at(lexer, end))) {
        end++;
    }
    bool keyword = kwi_name_is_keyword(lexer->text + offset, end - offset);
    return token(keyword ? KWI_TOKEN_KEYWORD : KWI_TOKEN_IDENTIFIER, offset, end - offset);
}

static kwi_token mark(const kwi_lexer *lexer, uint32_t offset)
{
    char c = at(lexer, offset);
    char second = at(lexer, offset + 1);
    if (c == '-' && second == '>') {
        return token(KWI_TOKEN_ARROW, offset, 2);
    }
    if (c == '.' && second == '.' && at(lexer, offset + 2) == '.') {
        return token(KWI_TOKEN_DOTS, offset, 3);
    }
    if (c == '\0') {
        return bad(offset, 1, "a zero byte");
    }
    if (strchr("()[],:.*=?!|-", c) != NULL) {
        return token(c, offset, 1);
    }
    if (!is_ascii(c)) {
        return bad(offset, 1,
                   character(lexer, offset) > 0 ? "a character outside ASCII"
                                                : "a byte that is not UTF-8");
    }
    return bad(offset, 1, c > ' ' && c <= '~' ? NULL : "a control character");
}

static kwi_token scan(const kwi_lexer *lexer)
{
    uint32_t offset = lexer->position;
    char c = at(lexer, offset);
    if (offset == lexer->length) {
        return token(KWI_TOKEN_END, offset, 0);
    }
    if (is_digit(c) || (c == '.' && is_digit(at(lexer, offset + 1)))) {
        return number(lexer, offset);
    }
    if (kwi_name_starts_with(c)) {
        return word(lexer, offset);
    }
    return c == '\'' || c == '"' ? string(lexer, offset) : mark(lexer, offset);
}

kwi_token kwi_lexer_next(kwi_lexer *lexer)
{
    (void)skip(lexer, lexer->nesting > 0);
    uint32_t offset = lexer->position;
    if (at(lexer, offset) == '\n') {
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
