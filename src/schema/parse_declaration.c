// Declarations.
//
//     decl    := name '(' [ arg { ',' arg } ] ')' '->' returns
//     name    := IDENTIFIER [ ':' ':' IDENTIFIER ] [ '.' IDENTIFIER ]
//     arg     := '*' | '...' | argtype IDENTIFIER [ '=' default ]
//     returns := ret | '(' [ ret { ',' ret } ] ')',  ret := '...' | argtype [ IDENTIFIER ]
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/name.h"
#include "schema/parser.h"

static bool identifier(kwi_parser *parser, const char *expected, kwi_span *out_span)
{
    uint32_t offset = parser->token.offset;
    if (!kwi_parser_expect(parser, KWI_TOKEN_IDENTIFIER, expected)) {
        return false;
    }
    *out_span = kwi_parser_span(parser, offset);
    return true;
}

static bool overload(kwi_parser *parser)
{
    kwi_span *name = &parser->draft->overload;
    if (!kwi_parser_take(parser, '.')) {
        return true;
    }
    if (!identifier(parser, "an overload name", name)) {
        return false;
    }
    uint32_t offset = parser->start + name->offset;
    const char *problem = kwi_name_overload_problem(parser->lexer.text + offset, name->length);
    if (problem == NULL) {
        return true;
    }
    (void)kwi_parser_fail_at(parser, offset, "%s", problem);
    kwi_parser_set_status(parser, KW_BAD_OVERLOAD);
    return false;
}

size_t kwi_draft_name_length(const kwi_draft *draft)
{
    size_t length = draft->base.length;
    length += draft->ns.length > 0 ? draft->ns.length + 2 : 0;
    length += draft->overload.length > 0 ? draft->overload.length + 1 : 0;
    return length;
}

static bool name(kwi_parser *parser)
{
    kwi_draft *draft = parser->draft;
    if (!identifier(parser, "an operator name", &draft->base)) {
        return false;
    }
    if (kwi_parser_take(parser, ':')) {
        draft->ns = draft->base;
        if (!kwi_parser_expect(parser, ':', "':'") ||
            !identifier(parser, "an operator name", &draft->base)) {
            return false;
        }
    }
    if (!overload(parser)) {
        return false;
    }
    return kwi_draft_name_length(draft) <= KWI_NAME_MAX ||
           kwi_parser_fail_at(parser, parser->start, "the operator name is longer than %d bytes",
                              KWI_NAME_MAX);
}

// What earlier arguments mean for later ones.
typedef struct argument_rules {
    bool keyword_only;
    bool default_seen;
} argument_rules;

static bool check_order(kwi_parser *parser, const argument_rules *rules, uint16_t type,
                        uint32_t name_offset, uint32_t name_length)
{
    bool is_list = kwi_draft_node(parser, type)->type.kind == KW_TYPE_LIST;
    if (!rules->default_seen || rules->keyword_only || is_list) {
        return true;
    }
    return kwi_parser_fail_at(parser, name_offset,
                              "argument \"%.*s\" follows one with a default and has none",
                              (int)name_length, parser->lexer.text + name_offset);
}

// Remembers where the first argument or return stands that is one too many.
static void count(kwi_parser *parser, uint32_t offset, uint32_t *counter, uint32_t most)
{
    if ((*counter)++ == most && parser->draft->extra == 0) {
        parser->draft->extra = offset;
    }
}

static bool argument(kwi_parser *parser, argument_rules *rules)
{
    kwi_draft *draft = parser->draft;
    uint32_t offset = parser->token.offset;
    kwi_argument read = {.name = {0, 0}};
    uint16_t type = 0;
    if (!kwi_parse_type(parser, &type)) {
        return false;
    }
    const kwi_token name = parser->token;
    if (!kwi_parser_expect(parser, KWI_TOKEN_IDENTIFIER, "an argument name")) {
        return false;
    }
    read.name = kwi_parser_extent(parser, name.offset);
    if (kwi_parser_take(parser, '=')) {
        if (!kwi_parse_default(parser, type, &read.default_text)) {
            return false;
        }
        rules->default_seen = true;
    } else if (!check_order(parser, rules, type, name.offset, name.length)) {
        return false;
    }
    if (draft->arg_count < KWI_SCHEMA_ARGS_MAX) {
        draft->args[draft->arg_count] = read;
        draft->arg_types[draft->arg_count] = type;
    }
    count(parser, offset, &draft->arg_count, KWI_SCHEMA_ARGS_MAX);
    return true;
}

static bool vararg(kwi_parser *parser, const argument_rules *rules)
{
    if (rules->default_seen) {
        return kwi_parser_fail(parser, "no \"...\" after a default");
    }
    parser->draft->vararg = kwi_parser_take(parser, KWI_TOKEN_DOTS);
    return kwi_parser_expect(parser, ')', "')' after \"...\"");
}

// Behind "*"; a second one changes nothing.
static void note_keywords(kwi_draft *draft, argument_rules *rules)
{
    if (!rules->keyword_only) {
        rules->keyword_only = true;
        draft->keyword_from = draft->arg_count;
    }
}

static bool arguments(kwi_parser *parser)
{
    argument_rules rules = {.keyword_only = false};
    parser->draft->keyword_from = KWI_SCHEMA_ARGS_MAX;
    if (!kwi_parser_expect(parser, '(', "'('")) {
        return false;
    }
    if (kwi_parser_take(parser, ')')) {
        return true;
    }
    do {
        if (parser->token.kind == KWI_TOKEN_DOTS) {
            return vararg(parser, &rules);
        }
        if (kwi_parser_take(parser, '*')) {
            note_keywords(parser->draft, &rules);
        } else if (!argument(parser, &rules)) {
            return false;
        }
    } while (kwi_parser_take(parser, ','));
    return kwi_parser_expect(parser, ')', "',' or ')'");
}

static bool result(kwi_parser *parser)
{
    kwi_draft *draft = parser->draft;
    uint32_t offset = parser->token.offset;
    kwi_argument read = {.name = {0, 0}};
    uint16_t type = 0;
    if (kwi_parser_take(parser, KWI_TOKEN_DOTS)) {
        draft->varret = true;
        return true;
    }
    if (!kwi_parse_type(parser, &type)) {
        return false;
    }
    uint32_t name_offset = parser->token.offset;
    if (kwi_parser_take(parser, KWI_TOKEN_IDENTIFIER)) {
        read.name = kwi_parser_extent(parser, name_offset);
    }
    if (draft->return_count < KWI_SCHEMA_RETURNS_MAX) {
        draft->returns[draft->return_count] = read;
        draft->return_types[draft->return_count] = type;
    }
    count(parser, offset, &draft->return_count, KWI_SCHEMA_RETURNS_MAX);
    return true;
}

static bool results(kwi_parser *parser)
{
    const kwi_draft *draft = parser->draft;
    if (!kwi_parser_expect(parser, KWI_TOKEN_ARROW, "\"->\"")) {
        return false;
    }
    if (!kwi_parser_take(parser, '(')) {
        return result(parser);
    }
    if (kwi_parser_take(parser, ')')) {
        return true;
    }
    do {
        if (!result(parser)) {
            return false;
        }
    } while (!draft->varret && kwi_parser_take(parser, ','));
    return kwi_parser_expect(parser, ')', draft->varret ? "')' after \"...\"" : "',' or ')'");
}

static bool check_counts(kwi_parser *parser)
{
    const kwi_draft *draft = parser->draft;
    bool args = draft->arg_count > KWI_SCHEMA_ARGS_MAX;
    if (!args && draft->return_count <= KWI_SCHEMA_RETURNS_MAX) {
        return true;
    }
    (void)kwi_parser_fail_at(parser, draft->extra, "%u %s, at most %d are possible",
                             (unsigned)(args ? draft->arg_count : draft->return_count),
                             args ? "arguments" : "returns",
                             args ? KWI_SCHEMA_ARGS_MAX : KWI_SCHEMA_RETURNS_MAX);
    kwi_parser_set_status(parser, KW_TOO_MANY_ARGUMENTS);
    return false;
}

bool kwi_parse_declaration(kwi_parser *parser)
{
    if (!name(parser) || !arguments(parser) || !results(parser)) {
        return false;
    }
    uint32_t end = parser->end;
    (void)kwi_parser_take(parser, KWI_TOKEN_NEWLINE);
    if (!kwi_parser_expect(parser, KWI_TOKEN_END, "the end")) {
        return false;
    }
    parser->end = end;
    return check_counts(parser);
}
