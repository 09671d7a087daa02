// Operator names: checking and splitting.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/name.h"

#include <string.h>

#include "base/text.h"

// The language is Python-like and these are its words. More of Python's are not: "lambda", "from"
// and "try" name arguments.
static const struct keyword {
    const char *text;
    size_t length;
} keywords[] = {
#define KEYWORD(text)                                                                              \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }
    KEYWORD("if"),     KEYWORD("in"),    KEYWORD("is"),       KEYWORD("not"),
    KEYWORD("and"),    KEYWORD("or"),    KEYWORD("for"),      KEYWORD("while"),
    KEYWORD("else"),   KEYWORD("elif"),  KEYWORD("def"),      KEYWORD("class"),
    KEYWORD("with"),   KEYWORD("as"),    KEYWORD("import"),   KEYWORD("pass"),
    KEYWORD("return"), KEYWORD("raise"), KEYWORD("assert"),   KEYWORD("del"),
    KEYWORD("global"), KEYWORD("break"), KEYWORD("continue"), KEYWORD("None"),
    KEYWORD("True"),   KEYWORD("False"), KEYWORD("NoneType"), KEYWORD("Ellipsis"),
#undef KEYWORD
};

const uint8_t kwi_name_bytes[256] = {
#define LETTER (KWI_NAME_STARTS | KWI_NAME_CONTINUES)
#define TEN(first, what)                                                                           \
    [(first)] = (what), [(first) + 1] = (what), [(first) + 2] = (what), [(first) + 3] = (what),    \
    [(first) + 4] = (what), [(first) + 5] = (what), [(first) + 6] = (what),                        \
    [(first) + 7] = (what), [(first) + 8] = (what), [(first) + 9] = (what)
#define LETTERS(first)                                                                             \
    TEN(first, LETTER), TEN((first) + 10, LETTER),                                                 \
        [(first) + 20] = LETTER, [(first) + 21] = LETTER, [(first) + 22] = LETTER,                 \
                   [(first) + 23] = LETTER, [(first) + 24] = LETTER, [(first) + 25] = LETTER
    LETTERS('a'),
    LETTERS('A'),
    TEN('0', KWI_NAME_CONTINUES),
    ['_'] = LETTER,
#undef LETTERS
#undef TEN
#undef LETTER
};

// What most names are not: as long as a keyword, and beginning like one. No two letters share a
// bit.
static bool may_be_keyword(const char *text, size_t length)
{
#define BIT(letter) (UINT64_C(1) << ((letter)&63))
    const uint64_t first = BIT('a') | BIT('b') | BIT('c') | BIT('d') | BIT('e') | BIT('f') |
                           BIT('g') | BIT('i') | BIT('n') | BIT('o') | BIT('p') | BIT('r') |
                           BIT('w') | BIT('E') | BIT('F') | BIT('N') | BIT('T');
#undef BIT
    return length >= 2 && length < sizeof "Ellipsis" && (first >> (text[0] & 63) & 1) != 0;
}

bool kwi_name_is_keyword(const char *text, size_t length)
{
    if (!may_be_keyword(text, length)) {
        return false;
    }
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        const struct keyword *keyword = &keywords[i];
        if (keyword->text[0] == text[0] && keyword->length == length &&
            memcmp(keyword->text, text, length) == 0) {
            return true;
        }
    }
    return false;
}

static size_t identifier_length(const char *text)
{
    size_t length = 0;
    if (kwi_name_starts_with(text[0])) {
        while (kwi_name_continues_with(text[length])) {
            length++;
        }
    }
    return length;
}

bool kwi_name_is_identifier(const char *text, size_t length)
{
    if (length == 0 || !kwi_name_starts_with(text[0])) {
        return false;
    }
    for (size_t i = 1; i < length; i++) {
        if (!kwi_name_continues_with(text[i])) {
            return false;
        }
    }
    return !kwi_name_is_keyword(text, length);
}

const char *kwi_name_overload_problem(const char *text, size_t length)
{
    if (length == strlen("default") && memcmp(text, "default", length) == 0) {
        return "\"default\" means the overload without a name; leave it out";
    }
    if (length >= 2 && text[0] == '_' && text[1] == '_') {
        return "an overload name cannot begin with two underscores";
    }
    return NULL;
}

// A quoted piece for a sentence, or the words for the end. The buffer holds one character.
static const char *describe(char c, char buffer[8])
{
    kwi_text text;
    kwi_text_init(&text, buffer, 8);
    if (c == '\0') {
        return "the end";
    }
    kwi_text_add(&text, c > ' ' && c <= '~' ? "'%c'" : "0x%02x", (unsigned char)c);
    return buffer;
}

static kw_status fail_expected(const char *name, size_t offset, const char *expected, kw_error *err)
{
    char found[8];
    (void)kwi_fail(err, KW_MALFORMED_NAME,
                   "operator name \"%.80s\": at byte %zu: expected %s but found %s", name, offset,
                   expected, describe(name[offset], found));
    kwi_fail_place(err, (uint32_t)offset);
    return KW_MALFORMED_NAME;
}

// Moves `position` over one identifier.
static kw_status check_part(const char *name, size_t *position, kw_error *err)
{
    const char *part = name + *position;
    size_t length = identifier_length(part);
    if (length == 0) {
        return fail_expected(name, *position, "an identifier", err);
    }
    if (kwi_name_is_keyword(part, length)) {
        (void)kwi_fail(err, KW_MALFORMED_NAME,
                       "operator name \"%.80s\": at byte %zu: expected an identifier but found "
                       "the word \"%.*s\"",
                       name, *position, (int)length, part);
        kwi_fail_place(err, (uint32_t)*position);
        return KW_MALFORMED_NAME;
    }
    *position += length;
    return KW_OK;
}

static kw_status check_overload(const char *name, size_t offset, size_t end, kw_error *err)
{
    const char *problem = kwi_name_overload_problem(name + offset, end - offset);
    if (problem == NULL) {
        return KW_OK;
    }
    (void)kwi_fail(err, KW_BAD_OVERLOAD, "operator name \"%.80s\": at byte %zu: %s", name, offset,
                   problem);
    kwi_fail_place(err, (uint32_t)offset);
    return KW_BAD_OVERLOAD;
}

static kwi_span span_between(size_t from, size_t to)
{
    return (kwi_span){.offset = (uint32_t)from, .length = (uint32_t)(to - from)};
}

// Reads the overload behind its point, if there is one.
static kw_status parse_overload(const char *name, size_t *position, kwi_name *parts, kw_error *err)
{
    if (name[*position] != '.') {
        return KW_OK;
    }
    size_t offset = ++*position;
    kw_status status = check_part(name, position, err);
    parts->overload = span_between(offset, *position);
    return status == KW_OK ? check_overload(name, offset, *position, err) : status;
}

kw_status kwi_name_parse(const char *name, kwi_name *out_parts, kw_error *err)
{
    if (name == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "the operator name is NULL");
    }
    if (memchr(name, '\0', KWI_NAME_MAX + 1) == NULL) {
        return kwi_fail(err, KW_MALFORMED_NAME, "operator name \"%.80s...\": longer than %d bytes",
                        name, KWI_NAME_MAX);
    }
    kwi_name parts = {.base = {.offset = 0}};
    size_t position = 0;
    kw_status status = check_part(name, &position, err);
    if (status == KW_OK && name[position] == ':') {
        if (name[position + 1] != ':') {
            return fail_expected(name, position + 1, "':'", err);
        }
        parts.ns = span_between(0, position);
        position += 2;
        parts.base.offset = (uint32_t)position;
        status = check_part(name, &position, err);
    }
    parts.base = span_between(parts.base.offset, position);
    if (status == KW_OK) {
        status = parse_overload(name, &position, &parts, err);
    }
    if (status == KW_OK && name[position] != '\0') {
        return fail_expected(name, position, "the end", err);
    }
    *out_parts = parts;
    return status;
}

kw_status kwi_name_check(const char *name, kw_error *err)
{
    kwi_name parts;
    return kwi_name_parse(name, &parts, err);
}

kwi_name kwi_name_split(const char *name)
{
    kwi_name parts = {.base = {.offset = 0}};
    const char *colons = strstr(name, "::");
    if (colons != NULL) {
        parts.ns = (kwi_span){.offset = 0, .length = (uint32_t)(colons - name)};
        parts.base.offset = parts.ns.length + 2;
    }
    const char *base = name + parts.base.offset;
    parts.base.length = (uint32_t)strcspn(base, ".");
    if (base[parts.base.length] == '.') {
        parts.overload.offset = parts.base.offset + parts.base.length + 1;
        parts.overload.length = (uint32_t)strlen(name + parts.overload.offset);
    }
    return parts;
}
