// Types, from the outside: lists and optionals.
//
//     argtype := type [ '[' NUMBER ']' [ alias ] [ '?' ] ]
//     type    := base { '[' ']' [ alias ] | '?' }
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/number.h"
#include "schema/parser.h"

static bool optional(kwi_parser *parser, uint16_t *type)
{
    uint32_t offset = parser->token.offset;
    kw_type_kind kind = (kw_type_kind)kwi_draft_node(parser, *type)->type.kind;
    if (kind == KW_TYPE_NONE) {
        return kwi_parser_fail(parser, "no '?' after NoneType, which is None already");
    }
    (void)kwi_parser_take(parser, '?');
    return kind == KW_TYPE_OPTIONAL || kwi_draft_wrap(parser, offset, KW_TYPE_OPTIONAL, type);
}

// Is the '[' the start of "[]"? A list with a size is none of a type's own suffixes.
static bool is_plain_list(const kwi_parser *parser)
{
    kwi_lexer ahead = parser->lexer;
    return kwi_lexer_next(&ahead).kind == ']';
}

static bool list(kwi_parser *parser, uint16_t *type)
{
    uint32_t offset = parser->token.offset;
    (void)kwi_parser_take(parser, '[');
    (void)kwi_parser_take(parser, ']');
    return kwi_draft_wrap(parser, offset, KW_TYPE_LIST, type) &&
           kwi_parse_alias(parser, &kwi_draft_node(parser, *type)->type);
}

bool kwi_parse_type_inside(kwi_parser *parser, uint16_t *out_type)
{
    bool read = kwi_parse_base(parser, out_type);
    while (read) {
        if (parser->token.kind == '?') {
            read = optional(parser, out_type);
        } else if (parser->token.kind == '[' && is_plain_list(parser)) {
            read = list(parser, out_type);
        } else if (parser->token.kind == '[' && parser->depth > 0) {
            (void)kwi_parser_take(parser, '[');
            return kwi_parser_fail(parser, "']' (inside another type a list has no size)");
        } else {
            return true;
        }
    }
    return false;
}

// Reads "N]" behind the bracket.
static bool list_size(kwi_parser *parser, uint32_t *out_size)
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
    *out_size = (uint32_t)size;
    return kwi_parser_expect(parser, ']', "']'");
}

bool kwi_parse_type(kwi_parser *parser, uint16_t *out_type)
{
    if (!kwi_parse_type_inside(parser, out_type)) {
        return false;
    }
    uint32_t offset = parser->token.offset;
    uint32_t size = 0;
    if (!kwi_parser_take(parser, '[')) {
        return true;
    }
    if (!list_size(parser, &size) || !kwi_draft_wrap(parser, offset, KW_TYPE_LIST, out_type)) {
        return false;
    }
    kwi_read_type *read = &kwi_draft_node(parser, *out_type)->type;
    read->sized = true;
    read->more.list_size = size;
    return kwi_parse_alias(parser, read) &&
           (parser->token.kind != '?' || optional(parser, out_type));
}
