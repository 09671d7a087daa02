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

#include "schema/constant.h"
#include "schema/number.h"
#include "schema/parser.h"

// What a constant is; kinds of types serve as kinds of values. Numbers follow the type `expected`
// of the place: float and complex convert, others take what the number looks like.
typedef struct constant_place {
    uint8_t expected;  // a fake kind; KWI_TYPE_ANY inside an optional
    bool scalar_types; // names of scalar types are numbers here
} constant_place;

static bool number(kwi_parser *parser, constant_place place, uint8_t *out_kind)
{
    bool negative = kwi_parser_take(parser, '-');
    const kwi_token token = parser->token;
    if (token.kind != KWI_TOKEN_NUMBER) {
        return kwi_parser_fail(parser, negative ? "a number" : "a constant");
    }
    const char *text = parser->lexer.text + token.offset;
    bool imaginary = text[token.length - 1] == 'j';
    uint32_t length = token.length - (imaginary ? 1 : 0);
    if (place.expected == KWI_TYPE_COMPLEX && !imaginary) {
        return kwi_parser_fail(parser, "an imaginary number, such as 2j");
    }
    double as_double = 0;
    int64_t as_integer = 0;
    if (imaginary || place.expected == KWI_TYPE_FLOAT || kwi_number_is_float(text, length)) {
        *out_kind = imaginary ? KWI_TYPE_COMPLEX : KWI_TYPE_FLOAT;
        if (!kwi_number_double(text, length, &as_double)) {
            return kwi_parser_fail(parser, "a number that a double can hold");
        }
    } else {
        *out_kind = KWI_TYPE_INT;
        if (!kwi_number_integer(text, length, negative, &as_integer)) {
            return kwi_parser_fail(parser, "an integer of 64 bits");
        }
    }
    return kwi_parser_take(parser, KWI_TOKEN_NUMBER);
}

static bool word(kwi_parser *parser, constant_place place, uint8_t *out_kind)
{
    const kwi_token token = parser->token;
    int64_t value = 0;
    if (!kwi_constant_find(parser->lexer.text + token.offset, token.length, place.scalar_types,
                           &value)) {
        return kwi_parser_fail(parser, "a constant");
    }
    *out_kind = KWI_TYPE_INT;
    return kwi_parser_take(parser, KWI_TOKEN_IDENTIFIER);
}

static bool constant(kwi_parser *parser, constant_place place, uint8_t *out_kind)
{
    switch (parser->token.kind) {
    case KWI_TOKEN_IDENTIFIER:
        return word(parser, place, out_kind);
    case KWI_TOKEN_STRING:
        *out_kind = KWI_TYPE_STRING;
        return kwi_parser_take(parser, KWI_TOKEN_STRING);
    case KWI_TOKEN_KEYWORD:
        if (kwi_parser_token_is(parser, "None")) {
            *out_kind = KWI_TYPE_NONE;
        } else if (kwi_parser_token_is(parser, "True") || kwi_parser_token_is(parser, "False")) {
            *out_kind = KWI_TYPE_BOOL;
        } else {
            return kwi_parser_fail(parser, "a constant");
        }
        return kwi_parser_take(parser, KWI_TOKEN_KEYWORD);
    default:
        return number(parser, place, out_kind);
    }
}

static bool list_element(kwi_parser *parser, constant_place place)
{
    uint32_t offset = parser->token.offset;
    uint8_t kind = KWI_TYPE_NONE;
    if (!constant(parser, place, &kind)) {
        return false;
    }
    return kind == place.expected ||
           kwi_parser_fail_at(parser, offset, "expected a constant of type %s for the list",
                              kwi_type_kind_word(place.expected));
}

// A sized list may take one constant for all its elements, but no word.
static bool list_default(kwi_parser *parser, const kwi_type *type)
{
    const constant_place place = {.expected = kwi_type_kind_fake(type->kind),
                                  .scalar_types = type->kind == KWI_TYPE_SCALAR_TYPE};
    bool numeric = place.expected == KWI_TYPE_INT || place.expected == KWI_TYPE_FLOAT ||
                   place.expected == KWI_TYPE_COMPLEX || place.expected == KWI_TYPE_BOOL;
    if (!numeric || type->element_optional) {
        return kwi_parser_fail(parser, "no default: a list of this type cannot have one");
    }
    if (type->sized && parser->token.kind != '[' && parser->token.kind != KWI_TOKEN_IDENTIFIER) {
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

static bool plain_default(kwi_parser *parser, uint8_t kind)
{
    const constant_place place = {.expected = kwi_type_kind_fake(kind),
                                  .scalar_types = kind == KWI_TYPE_SCALAR_TYPE};
    uint8_t constant_kind = KWI_TYPE_NONE;
    switch (place.expected) {
    case KWI_TYPE_TENSOR:
    case KWI_TYPE_GENERATOR:
    case KWI_TYPE_QUANTIZER:
        return kwi_parser_token_is(parser, "None")
                   ? kwi_parser_take(parser, KWI_TOKEN_KEYWORD)
                   : kwi_parser_fail(parser, "None, the only default of this type");
    case KWI_TYPE_DEVICE:
        return kwi_parser_expect(parser, KWI_TOKEN_STRING, "a string");
    case KWI_TYPE_SCALAR:
    case KWI_TYPE_INT:
    case KWI_TYPE_FLOAT:
    case KWI_TYPE_BOOL:
    case KWI_TYPE_COMPLEX:
    case KWI_TYPE_STRING:
        return constant(parser, place, &constant_kind);
    default:
        return kwi_parser_fail(parser, "no default: this type cannot have one");
    }
}

bool kwi_parse_default(kwi_parser *parser, kwi_argument *argument)
{
    const kwi_type *type = &argument->type;
    uint32_t offset = parser->token.offset;
    bool parsed = false;
    if (type->optional) {
        uint8_t kind = KWI_TYPE_NONE;
        parsed = constant(parser, (constant_place){.expected = KWI_TYPE_ANY}, &kind);
    } else if (type->list) {
        parsed = list_default(parser, type);
    } else {
        parsed = plain_default(parser, type->kind);
    }
    argument->default_value = kwi_parser_span(parser, offset);
    return parsed;
}
