// Types and alias annotations.
//
//     argtype := type [ '[' NUMBER ']' [ alias ] [ '?' ] ]
//     type    := base [ alias ] { '[' ']' [ alias ] | '?' }
//     alias   := '(' set [ '!' ] [ '->' set ] ')' | '!'
//     set     := member { '|' member },  member := '*' | IDENTIFIER
//
// An annotation belongs to what stands directly before it. One level of lists is supported.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "base/text.h"
#include "schema/number.h"
#include "schema/parser.h"

static bool alias_set(kwi_parser *parser)
{
    do {
        if (!kwi_parser_take(parser, '*') &&
            !kwi_parser_expect(parser, KWI_TOKEN_IDENTIFIER, "an alias set")) {
            return false;
        }
    } while (kwi_parser_take(parser, '|'));
    return true;
}

// Reads an annotation if there is one, and then decides `written`; else leaves both untouched.
static bool alias(kwi_parser *parser, kwi_span *out_alias, bool *written)
{
    uint32_t offset = parser->token.offset;
    if (kwi_parser_take(parser, '!')) {
        *written = true;
    } else if (kwi_parser_take(parser, '(')) {
        if (!alias_set(parser)) {
            return false;
        }
        *written = kwi_parser_take(parser, '!');
        if (kwi_parser_take(parser, KWI_TOKEN_ARROW) && !alias_set(parser)) {
            return false;
        }
        if (!kwi_parser_expect(parser, ')', "')' after the alias annotation")) {
            return false;
        }
    } else {
        return true;
    }
    *out_alias = kwi_parser_span(parser, offset);
    return true;
}

typedef struct type_hint {
    const char *word;
    const char *expected;
} type_hint;

// Words that people try.
static const type_hint hints[] = {
    {"double", "a type (a double is written float)"},
    {"int64_t", "a type (a 64-bit integer is written int or SymInt)"},
    {"tensor", "a type (written Tensor)"},
    {"Optional", "a type (an optional is written with '?')"},
    {"List", "a type (a list is written with \"[]\")"},
    {"Tuple", "a type (tuples are not supported)"},
    {"(", "a type (tuples are not supported)"},
    {"Dict", "a type (Dict is not supported)"},
    {"Union", "a type (Union is not supported)"},
    {"Future", "a type (Future is not supported)"},
    {"RRef", "a type (RRef is not supported)"},
    {"Await", "a type (Await is not supported)"},
    {"__torch__", "a type (classes are not supported)"},
};

static bool fail_base(kwi_parser *parser)
{
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        if (kwi_parser_token_is(parser, hints[i].word)) {
            return kwi_parser_fail(parser, hints[i].expected);
        }
    }
    return kwi_parser_fail(parser, "a type");
}

static bool base(kwi_parser *parser, kwi_argument *argument)
{
    const kwi_token *token = &parser->token;
    // "None" and "NoneType" are words of the language that are types too.
    bool is_word = token->kind == KWI_TOKEN_IDENTIFIER || token->kind == KWI_TOKEN_KEYWORD;
    const char *text = parser->lexer.text + token->offset;
    if (!is_word || !kwi_type_kind_find(text, token->length, &argument->type.kind)) {
        return fail_base(parser);
    }
    (void)kwi_parser_take(parser, token->kind);
    return alias(parser, &argument->alias, &argument->written);
}

// Reads "N]" behind the bracket.
static bool list_size(kwi_parser *parser, kwi_type *type)
{
    const kwi_token token = parser->token;
    const char *text = parser->lexer.text + token.offset;
    int64_t size = 0;
    if (token.kind != KWI_TOKEN_NUMBER) {
        return kwi_parser_fail(parser, "']' or the size of the list");
    }
    if (kwi_number_is_float(text, token.length) || text[token.length - 1] == 'j' ||
        !kwi_number_integer(text, token.length, false, &size) || size > UINT32_MAX) {
        return kwi_parser_fail(parser, "a size of at most 32 bits");
    }
    (void)kwi_parser_take(parser, KWI_TOKEN_NUMBER);
    type->sized = true;
    type->list_size = (uint32_t)size;
    return kwi_parser_expect(parser, ']', "']'");
}

static bool list(kwi_parser *parser, kwi_argument *argument)
{
    kwi_type *type = &argument->type;
    if (type->list) {
        return kwi_parser_fail(parser, "no further '[' (lists of lists are not supported)");
    }
    (void)kwi_parser_take(parser, '[');
    type->list = true;
    type->element_optional = type->optional;
    type->optional = false;
    if (!kwi_parser_take(parser, ']') && !list_size(parser, type)) {
        return false;
    }
    return alias(parser, &argument->list_alias, &argument->written);
}

bool kwi_parse_type(kwi_parser *parser, kwi_argument *argument)
{
    if (!base(parser, argument)) {
        return false;
    }
    kwi_type *type = &argument->type;
    while (!type->sized) {
        if (kwi_parser_take(parser, '?')) {
            type->optional = true;
        } else if (parser->token.kind != '[') {
            return true;
        } else if (!list(parser, argument)) {
            return false;
        }
    }
    type->optional = kwi_parser_take(parser, '?');
    return true;
}
