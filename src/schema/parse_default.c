// Defaults: which constants an argument's type accepts.
//
//     default  := constant | '[' [ constant { ',' constant } ] ']'
//     constant := True | False | None | STRING | [ '-' ] NUMBER | IDENTIFIER
//
// An optional takes any one constant and a plain type any one too, unchecked against the type, as
// in the original; a list checks its elements. Numbers must fit 64 bits or a double.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/device.h"
#include "schema/literal.h"
#include "schema/parser.h"

// Bytes of a device's name, longest included.
#define DEVICE_BYTES 32

// Where a constant stands. Numbers follow the type `expected` of the place.
typedef struct constant_place {
    kw_type_kind expected; // a fake kind; KW_TYPE_ANY inside an optional
    bool scalar_types;     // names of scalar types are numbers here
} constant_place;

static bool number(kwi_parser *parser, constant_place place, kwi_constant *out_constant)
{
    bool negative = kwi_parser_take(parser, '-');
    const kwi_token token = parser->token;
    if (token.kind != KWI_TOKEN_NUMBER) {
        return kwi_parser_fail(parser, negative ? "a number" : "a constant");
    }
    const char *text = parser->lexer.text + token.offset;
    if (place.expected == KW_TYPE_COMPLEX && text[token.length - 1] != 'j') {
        return kwi_parser_fail(parser, "an imaginary number, such as 2j");
    }
    if (!kwi_constant_number(text, token.length, negative, place.expected, out_constant)) {
        return kwi_parser_fail(parser, out_constant->kind == KWI_CONSTANT_INT
                                           ? "an integer of 64 bits"
                                           : "a number that a double can hold");
    }
    return kwi_parser_take(parser, KWI_TOKEN_NUMBER);
}

static bool word(kwi_parser *parser, constant_place place, kwi_constant *out_constant)
{
    const kwi_token token = parser->token;
    *out_constant = (kwi_constant){.kind = KWI_CONSTANT_INT, .word = true};
    if (!kwi_constant_find(parser->lexer.text + token.offset, token.length, place.scalar_types,
                           &out_constant->as_int)) {
        return kwi_parser_fail(parser, "a constant");
    }
    return kwi_parser_take(parser, KWI_TOKEN_IDENTIFIER);
}

static bool constant(kwi_parser *parser, constant_place place, kwi_constant *out_constant)
{
    switch (parser->token.kind) {
    case KWI_TOKEN_IDENTIFIER:
        return word(parser, place, out_constant);
    case KWI_TOKEN_STRING:
        *out_constant = (kwi_constant){.kind = KWI_CONSTANT_STRING};
        return kwi_parser_take(parser, KWI_TOKEN_STRING);
    case KWI_TOKEN_KEYWORD:
        *out_constant = (kwi_constant){.kind = KWI_CONSTANT_BOOL};
        if (kwi_parser_token_is(parser, "None")) {
            out_constant->kind = KWI_CONSTANT_NONE;
        } else if (!kwi_parser_token_is(parser, "True") && !kwi_parser_token_is(parser, "False")) {
            return kwi_parser_fail(parser, "a constant");
        }
        return kwi_parser_take(parser, KWI_TOKEN_KEYWORD);
    default:
        return number(parser, place, out_constant);
    }
}

// The kind of constant that an element of a list is; KWI_CONSTANT_NONE: such a list has no default.
static kwi_constant_kind element_kind(kw_type_kind fake)
{
    bool is_int = fake == KW_TYPE_INT;
    bool is_float = fake == KW_TYPE_FLOAT;
    kwi_constant_kind other = fake == KW_TYPE_BOOL      ? KWI_CONSTANT_BOOL
                              : fake == KW_TYPE_COMPLEX ? KWI_CONSTANT_COMPLEX
                                                        : KWI_CONSTANT_NONE;
    return is_int ? KWI_CONSTANT_INT : is_float ? KWI_CONSTANT_FLOAT : other;
}

static bool list_element(kwi_parser *parser, constant_place place)
{
    uint32_t offset = parser->token.offset;
    kwi_constant read = {.kind = KWI_CONSTANT_NONE};
    if (!constant(parser, place, &read)) {
        return false;
    }
    return read.kind == element_kind(place.expected) ||
           kwi_parser_fail_at(parser, offset, "expected a constant of type %s for the list",
                              kwi_type_kind_word(place.expected));
}

// A sized list may take one constant for all its elements, but no word.
static bool list_default(kwi_parser *parser, const kwi_read_type *list)
{
    kw_type_kind kind = (kw_type_kind)kwi_draft_node(parser, list->first_child)->type.kind;
    const constant_place place = {.expected = kwi_type_kind_fake(kind),
                                  .scalar_types = kind == KW_TYPE_SCALAR_TYPE};
    if (element_kind(place.expected) == KWI_CONSTANT_NONE) {
        return kwi_parser_fail(parser, "no default: a list of this type cannot have one");
    }
    if (list->sized && parser->token.kind != '[' && parser->token.kind != KWI_TOKEN_IDENTIFIER) {
        return list_element(parser, place);
    }
    if (!kwi_parser_expect(parser, '[', "'['")) {
        return false;
    }
    if (kwi_parser_take(parser, ']')) {
        return true;
    }
    do {
        if (!list_element(parser, place)) {
            return false;
        }
    } while (kwi_parser_take(parser, ','));
    return kwi_parser_expect(parser, ']', "',' or ']'");
}

static bool device(kwi_parser *parser)
{
    const kwi_token token = parser->token;
    char name[DEVICE_BYTES];
    kwi_device read;
    if (token.kind == KWI_TOKEN_STRING) {
        const kwi_constant string = {
            .as_literal = {parser->lexer.text + token.offset, token.length}};
        size_t length = kwi_constant_string(&string, name, sizeof name);
        if (length > sizeof name || !kwi_device_parse(name, length, &read)) {
            return kwi_parser_fail(parser, "a device, such as \"cpu\" or \"cuda:0\"");
        }
    }
    return kwi_parser_expect(parser, KWI_TOKEN_STRING, "a string");
}

static bool plain_default(kwi_parser *parser, kw_type_kind kind)
{
    const constant_place place = {.expected = kwi_type_kind_fake(kind),
                                  .scalar_types = kind == KW_TYPE_SCALAR_TYPE};
    kwi_constant read = {.kind = KWI_CONSTANT_NONE};
    switch ((int)place.expected) {
    case KW_TYPE_TENSOR:
    case KW_TYPE_GENERATOR:
    case KW_TYPE_QUANTIZER:
        return kwi_parser_token_is(parser, "None")
                   ? kwi_parser_take(parser, KWI_TOKEN_KEYWORD)
                   : kwi_parser_fail(parser, "None, the only default of this type");
    case KW_TYPE_DEVICE:
        return device(parser);
    case KW_TYPE_SCALAR:
    case KW_TYPE_INT:
    case KW_TYPE_FLOAT:
    case KW_TYPE_BOOL:
    case KW_TYPE_COMPLEX:
    case KW_TYPE_STRING:
        return constant(parser, place, &read);
    default:
        return kwi_parser_fail(parser, "no default: this type cannot have one");
    }
}

static bool optional_default(kwi_parser *parser, const kwi_read_type *optional)
{
    const kwi_read_type *inside = &kwi_draft_node(parser, optional->first_child)->type;
    const constant_place place = {.expected = KW_TYPE_ANY,
                                  .scalar_types = inside->kind == KW_TYPE_SCALAR_TYPE};
    kwi_constant read = {.kind = KWI_CONSTANT_NONE};
    return constant(parser, place, &read);
}

bool kwi_parse_default(kwi_parser *parser, uint16_t type, kwi_extent *out_text)
{
    const kwi_read_type *root = &kwi_draft_node(parser, type)->type;
    uint32_t offset = parser->token.offset;
    bool parsed = false;
    if (root->kind == KW_TYPE_OPTIONAL) {
        parsed = optional_default(parser, root);
    } else if (root->kind == KW_TYPE_LIST) {
        parsed = list_default(parser, root);
    } else {
        parsed = plain_default(parser, (kw_type_kind)root->kind);
    }
    *out_text = kwi_parser_extent(parser, offset);
    return parsed;
}
