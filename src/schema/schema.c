// Schemas: the declaration, and the block that a parsed one lives in.
//
//     decl    := name '(' [ arg { ',' arg } ] ')' '->' returns
//     name    := IDENTIFIER [ ':' ':' IDENTIFIER ] [ '.' IDENTIFIER ]
//     arg     := '*' | '...' | argtype IDENTIFIER [ '=' default ]
//     returns := ret | '(' [ ret { ',' ret } ] ')',  ret := '...' | argtype [ IDENTIFIER ]
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/schema.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "schema/parser.h"

_Static_assert(KWI_SCHEMA_ARGS_MAX <= 64, "the tensor mask has one bit an argument");

static bool identifier(kwi_parser *parser, const char *expected, kwi_span *out_span)
{
    uint32_t offset = parser->token.offset;
    if (!kwi_parser_expect(parser, KWI_TOKEN_IDENTIFIER, expected)) {
        return false;
    }
    *out_span = kwi_parser_span(parser, offset);
    return true;
}

static bool overload(kwi_parser *parser, kwi_draft *draft)
{
    if (!kwi_parser_take(parser, '.')) {
        return true;
    }
    if (!identifier(parser, "an overload name", &draft->overload)) {
        return false;
    }
    uint32_t offset = parser->start + draft->overload.offset;
    const char *problem =
        kwi_name_overload_problem(parser->lexer.text + offset, draft->overload.length);
    if (problem == NULL) {
        return true;
    }
    (void)kwi_parser_fail_at(parser, offset, "%s", problem);
    kwi_parser_set_status(parser, KW_BAD_OVERLOAD);
    return false;
}

// Bytes of the whole name without blanks.
static size_t name_length(const kwi_draft *draft)
{
    size_t length = draft->base.length;
    length += draft->ns.length > 0 ? draft->ns.length + 2 : 0;
    length += draft->overload.length > 0 ? draft->overload.length + 1 : 0;
    return length;
}

static bool name(kwi_parser *parser, kwi_draft *draft)
{
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
    if (!overload(parser, draft)) {
        return false;
    }
    return name_length(draft) <= KWI_NAME_MAX ||
           kwi_parser_fail_at(parser, parser->start, "the operator name is longer than %d bytes",
                              KWI_NAME_MAX);
}

// What earlier arguments mean for later ones.
typedef struct argument_rules {
    bool keyword_only;
    bool default_seen;
} argument_rules;

static bool check_order(kwi_parser *parser, const kwi_argument *argument,
                        const argument_rules *rules)
{
    bool is_plain_list = argument->type.list && !argument->type.optional;
    if (!rules->default_seen || argument->keyword_only || is_plain_list) {
        return true;
    }
    uint32_t offset = parser->start + argument->name.offset;
    return kwi_parser_fail_at(parser, offset,
                              "argument \"%.*s\" follows one with a default and has none",
                              (int)argument->name.length, parser->lexer.text + offset);
}

static bool argument(kwi_parser *parser, kwi_draft *draft, argument_rules *rules)
{
    kwi_argument read = {.keyword_only = rules->keyword_only};
    if (!kwi_parse_type(parser, &read) || !identifier(parser, "an argument name", &read.name)) {
        return false;
    }
    if (kwi_parser_take(parser, '=')) {
        if (!kwi_parse_default(parser, &read)) {
            return false;
        }
        rules->default_seen = true;
    } else if (!check_order(parser, &read, rules)) {
        return false;
    }
    if (draft->arg_count < KWI_SCHEMA_ARGS_MAX) {
        draft->args[draft->arg_count] = read;
    }
    draft->arg_count++;
    return true;
}

static bool vararg(kwi_parser *parser, kwi_draft *draft, const argument_rules *rules)
{
    if (rules->default_seen) {
        return kwi_parser_fail(parser, "no \"...\" after a default");
    }
    draft->vararg = kwi_parser_take(parser, KWI_TOKEN_DOTS);
    return kwi_parser_expect(parser, ')', "')' after \"...\"");
}

static bool arguments(kwi_parser *parser, kwi_draft *draft)
{
    argument_rules rules = {.keyword_only = false};
    if (!kwi_parser_expect(parser, '(', "'('")) {
        return false;
    }
    if (kwi_parser_take(parser, ')')) {
        return true;
    }
    do {
        if (parser->token.kind == KWI_TOKEN_DOTS) {
            return vararg(parser, draft, &rules);
        }
        if (kwi_parser_take(parser, '*')) {
            rules.keyword_only = true;
        } else if (!argument(parser, draft, &rules)) {
            return false;
        }
    } while (kwi_parser_take(parser, ','));
    return kwi_parser_expect(parser, ')', "',' or ')'");
}

static bool result(kwi_parser *parser, kwi_draft *draft)
{
    kwi_argument read = {.keyword_only = false};
    if (kwi_parser_take(parser, KWI_TOKEN_DOTS)) {
        draft->varret = true;
        return true;
    }
    if (!kwi_parse_type(parser, &read)) {
        return false;
    }
    if (parser->token.kind == KWI_TOKEN_IDENTIFIER) {
        (void)identifier(parser, "a name", &read.name);
    }
    if (draft->return_count < KWI_SCHEMA_RETURNS_MAX) {
        draft->returns[draft->return_count] = read;
    }
    draft->return_count++;
    return true;
}

static bool results(kwi_parser *parser, kwi_draft *draft)
{
    if (!kwi_parser_expect(parser, KWI_TOKEN_ARROW, "\"->\"")) {
        return false;
    }
    if (!kwi_parser_take(parser, '(')) {
        return result(parser, draft);
    }
    if (kwi_parser_take(parser, ')')) {
        return true;
    }
    do {
        if (!result(parser, draft)) {
            return false;
        }
    } while (!draft->varret && kwi_parser_take(parser, ','));
    return kwi_parser_expect(parser, ')', draft->varret ? "')' after \"...\"" : "',' or ')'");
}

static bool declaration(kwi_parser *parser, kwi_draft *draft)
{
    if (!name(parser, draft) || !arguments(parser, draft) || !results(parser, draft)) {
        return false;
    }
    uint32_t end = parser->end;
    (void)kwi_parser_take(parser, KWI_TOKEN_NEWLINE);
    if (!kwi_parser_expect(parser, KWI_TOKEN_END, "the end")) {
        return false;
    }
    parser->end = end;
    return true;
}

static kw_status check_counts(const kwi_parser *parser, const kwi_draft *draft, kw_error *err)
{
    const char *base = parser->lexer.text + parser->start + draft->base.offset;
    if (draft->arg_count > KWI_SCHEMA_ARGS_MAX) {
        return kwi_fail(err, KW_TOO_MANY_ARGUMENTS,
                        "operator \"%.*s\" has %u arguments, at most %d are possible",
                        (int)draft->base.length, base, draft->arg_count, KWI_SCHEMA_ARGS_MAX);
    }
    if (draft->return_count > KWI_SCHEMA_RETURNS_MAX) {
        return kwi_fail(err, KW_TOO_MANY_ARGUMENTS,
                        "operator \"%.*s\" has %u returns, at most %d are possible",
                        (int)draft->base.length, base, draft->return_count, KWI_SCHEMA_RETURNS_MAX);
    }
    return KW_OK;
}

static uint64_t tensor_mask(const kwi_argument *args, uint32_t count)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < count; i++) {
        const kwi_type *type = &args[i].type;
        bool optional_list = type->list && type->optional;
        if (type->kind == KWI_TYPE_TENSOR && !optional_list) {
            mask |= UINT64_C(1) << i;
        }
    }
    return mask;
}

static uint64_t generator_mask(const kwi_argument *args, uint32_t count)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (args[i].type.kind == KWI_TYPE_GENERATOR && !args[i].type.list) {
            mask |= UINT64_C(1) << i;
        }
    }
    return mask;
}

// Adds a piece of the text to the name and returns where it lies there.
static kwi_span add_name(kwi_text *name, const char *mark, const char *text, kwi_span piece)
{
    if (piece.length == 0) {
        return (kwi_span){.offset = 0};
    }
    kwi_text_add(name, "%s%.*s", mark, (int)piece.length, text + piece.offset);
    return (kwi_span){.offset = (uint32_t)name->length - piece.length, .length = piece.length};
}

static kwi_name write_name(char *buffer, size_t size, const kwi_draft *draft, const char *text)
{
    kwi_text name;
    kwi_name parts;
    kwi_text_init(&name, buffer, size);
    parts.ns = add_name(&name, "", text, draft->ns);
    parts.base = add_name(&name, draft->ns.length > 0 ? "::" : "", text, draft->base);
    parts.overload = add_name(&name, ".", text, draft->overload);
    KWI_ASSERT(name.length + 1 == size);
    return parts;
}

// The block holds the schema, its arguments, its returns, its name and its text, in this order.
static kwi_schema *build(const kwi_draft *draft, const char *text, size_t text_length)
{
    size_t args_bytes = draft->arg_count * sizeof(kwi_argument);
    size_t returns_bytes = draft->return_count * sizeof(kwi_argument);
    size_t name_bytes = name_length(draft) + 1;
    size_t bytes = sizeof(kwi_schema) + args_bytes + returns_bytes + name_bytes + text_length + 1;
    kwi_schema *schema = kwi_allocate(bytes);
    if (schema == NULL) {
        return NULL;
    }
    kwi_argument *args = (kwi_argument *)(schema + 1);
    kwi_argument *returns = args + draft->arg_count;
    char *name_copy = (char *)(returns + draft->return_count);
    char *text_copy = name_copy + name_bytes;
    memcpy(args, draft->args, args_bytes);
    memcpy(returns, draft->returns, returns_bytes);
    memcpy(text_copy, text, text_length);
    *schema = (kwi_schema){.text = text_copy,
                           .name = name_copy,
                           .name_parts = write_name(name_copy, name_bytes, draft, text_copy),
                           .arg_count = draft->arg_count,
                           .return_count = draft->return_count,
                           .args = args,
                           .returns = returns,
                           .tensor_mask = tensor_mask(args, draft->arg_count),
                           .generator_mask = generator_mask(args, draft->arg_count),
                           .vararg = draft->vararg,
                           .varret = draft->varret,
                           .bytes = bytes};
    return schema;
}

kw_status kwi_schema_parse(const char *text, kwi_schema **out_schema, kw_error *err)
{
    if (text == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "the schema is NULL");
    }
    if (memchr(text, '\0', KWI_SCHEMA_TEXT_MAX + 1) == NULL) {
        return kwi_fail(err, KW_MALFORMED_SCHEMA,
                        "at byte %d: expected the end: no schema is longer", KWI_SCHEMA_TEXT_MAX);
    }
    kwi_parser parser;
    kwi_draft draft;
    memset(&draft, 0, offsetof(kwi_draft, args));
    kwi_parser_init(&parser, text, err);
    if (!declaration(&parser, &draft)) {
        return parser.status;
    }
    kw_status status = check_counts(&parser, &draft, err);
    if (status != KW_OK) {
        return status;
    }
    kwi_schema *schema = build(&draft, text + parser.start, parser.end - parser.start);
    if (schema == NULL) {
        return kwi_fail_memory(err);
    }
    *out_schema = schema;
    return KW_OK;
}

void kwi_schema_destroy(kwi_schema *take_schema)
{
    if (take_schema != NULL) {
        kwi_free(take_schema, take_schema->bytes);
    }
}
