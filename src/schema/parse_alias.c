// Alias annotations.
//
//     alias := '(' set [ '!' ] [ '->' set ] ')' | '!'
//     set   := IDENTIFIER { '|' IDENTIFIER } { '|' '*' } | '*' { '|' '*' }
//
// An annotation belongs to what stands directly before it.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/alias.h"
#include "schema/parser.h"

// What is in every set takes no more names, as in the original.
static bool set(kwi_parser *parser)
{
    bool wildcard = false;
    uint32_t count = 0;
    do {
        if (++count > KWI_ALIAS_NAMES_MAX) {
            return kwi_parser_fail_at(parser, parser->token.offset,
                                      "an alias set has at most %d names", KWI_ALIAS_NAMES_MAX);
        }
        if (kwi_parser_take(parser, '*')) {
            wildcard = true;
        } else if (wildcard) {
            return kwi_parser_fail(parser, "no name after '*'");
        } else if (!kwi_parser_expect(parser, KWI_TOKEN_IDENTIFIER, "an alias set")) {
            return false;
        }
    } while (kwi_parser_take(parser, '|'));
    return true;
}

bool kwi_parse_alias(kwi_parser *parser, kwi_read_type *type)
{
    uint32_t offset = parser->token.offset;
    if (kwi_parser_take(parser, '!')) {
        type->written = true;
    } else if (kwi_parser_take(parser, '(')) {
        if (!set(parser)) {
            return false;
        }
        type->written = kwi_parser_take(parser, '!');
        if (kwi_parser_take(parser, KWI_TOKEN_ARROW) && !set(parser)) {
            return false;
        }
        if (!kwi_parser_expect(parser, ')', "')' after the alias annotation")) {
            return false;
        }
    } else {
        return true;
    }
    type->more.alias = kwi_parser_extent(parser, offset);
    return true;
}
