// Types, from the inside: words, and types made of types.
//
//     base := IDENTIFIER [ alias ] | 'None' [ alias ] | 'NoneType' [ alias ]
//           | '(' [ type { ',' type } ] ')'
//           | 'Dict' '(' type ',' type ')' [ alias ] | 'Union' '(' type { ',' type } ')' [ alias ]
//           | 'Future' '(' type ')' | 'RRef' '(' type ')' | 'Await' '(' type ')'
//           | '__torch__' '.' 'torch' '.' 'classes' '.' IDENTIFIER '.' IDENTIFIER
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "schema/parser.h"

// Reads "type { ',' type } )", at most `most` types.
static bool members(kwi_parser *parser, uint32_t most, kwi_type_list *out_members)
{
    do {
        uint16_t member = 0;
        if (!kwi_parse_type_inside(parser, &member)) {
            return false;
        }
        kwi_draft_append(parser, out_members, member);
    } while (out_members->count < most && kwi_parser_take(parser, ','));
    return kwi_parser_expect(parser, ')', out_members->count < most ? "',' or ')'" : "')'");
}

typedef struct composite {
    const char *word;
    kw_type_kind kind;
    uint32_t most;
    bool annotated;
} composite;

static const composite composites[] = {
    {"Dict", KW_TYPE_DICT, 2, true},      {"Union", KW_TYPE_UNION, UINT32_MAX, true},
    {"Future", KW_TYPE_FUTURE, 1, false}, {"RRef", KW_TYPE_RREF, 1, false},
    {"Await", KW_TYPE_AWAIT, 1, false},
};

// As the original: what it stores as an integer serves too, and what it can compare.
static bool is_key(kw_type_kind kind)
{
    kw_type_kind fake = kwi_type_kind_fake(kind);
    return fake == KW_TYPE_INT || fake == KW_TYPE_BOOL || fake == KW_TYPE_FLOAT ||
           fake == KW_TYPE_COMPLEX || fake == KW_TYPE_STRING || fake == KW_TYPE_TENSOR ||
           fake == KW_TYPE_DEVICE || fake == KW_TYPE_ANY;
}

static bool dict_members(kwi_parser *parser, kwi_type_list *out_members)
{
    uint32_t offset = parser->token.offset;
    uint16_t key = 0;
    if (!kwi_parse_type_inside(parser, &key)) {
        return false;
    }
    if (!is_key((kw_type_kind)kwi_draft_node(parser, key)->type.kind)) {
        return kwi_parser_fail_at(
            parser, offset,
            "expected a type that keys can have: int, float, bool, complex, str, Tensor or Device");
    }
    kwi_draft_append(parser, out_members, key);
    return kwi_parser_expect(parser, ',', "',' and the type of the values") &&
           members(parser, 2, out_members);
}

static bool composite_type(kwi_parser *parser, const composite *row, uint16_t *out_type)
{
    uint32_t offset = parser->token.offset;
    kwi_type_list children = {.count = 0};
    (void)kwi_parser_take(parser, KWI_TOKEN_IDENTIFIER);
    if (!kwi_parser_expect(parser, '(', "'(' and what the type is made of")) {
        return false;
    }
    parser->depth++;
    bool read = row->kind == KW_TYPE_DICT ? dict_members(parser, &children)
                                          : members(parser, row->most, &children);
    parser->depth--;
    return read && kwi_draft_add(parser, offset, row->kind, &children, out_type) &&
           (!row->annotated || kwi_parse_alias(parser, &kwi_draft_node(parser, *out_type)->type));
}

static bool tuple(kwi_parser *parser, uint16_t *out_type)
{
    uint32_t offset = parser->token.offset;
    kwi_type_list children = {.count = 0};
    (void)kwi_parser_take(parser, '(');
    parser->depth++;
    bool read = kwi_parser_take(parser, ')') || members(parser, UINT32_MAX, &children);
    parser->depth--;
    return read && kwi_draft_add(parser, offset, KW_TYPE_TUPLE, &children, out_type);
}

// One piece of a class's name, without a blank before it; NULL: any identifier.
static bool class_piece(kwi_parser *parser, const char *piece)
{
    static const char form[] = "__torch__.torch.classes.namespace.name";
    int kind = piece != NULL && piece[0] == '.' ? '.' : KWI_TOKEN_IDENTIFIER;
    if (parser->token.kind != kind || (piece != NULL && !kwi_parser_token_is(parser, piece))) {
        return kwi_parser_fail(parser, form);
    }
    if (parser->end != parser->token.offset) {
        return kwi_parser_fail_at(parser, parser->end, "expected %s without blanks", form);
    }
    return kwi_parser_take(parser, kind);
}

// Every class is taken: there is no register of them.
static bool class_type(kwi_parser *parser, uint16_t *out_type)
{
    static const char *const pieces[] = {".", "torch", ".", "classes", ".", NULL, ".", NULL};
    const kwi_type_list none = {.count = 0};
    uint32_t offset = parser->token.offset;
    if (!kwi_draft_add(parser, offset, KW_TYPE_CLASS, &none, out_type)) {
        return false;
    }
    (void)kwi_parser_take(parser, KWI_TOKEN_IDENTIFIER);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        if (!class_piece(parser, pieces[i])) {
            return false;
        }
    }
    kwi_draft_node(parser, *out_type)->type.more.name = kwi_parser_extent(parser, offset);
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
    {"Tuple", "a type (a tuple is written in parentheses)"},
};

static bool fail_word(kwi_parser *parser)
{
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        if (kwi_parser_token_is(parser, hints[i].word)) {
            return kwi_parser_fail(parser, hints[i].expected);
        }
    }
    return kwi_parser_fail(parser, "a type");
}

static bool namespace_is(const kwi_parser *parser, const char *word)
{
    const kwi_span ns = parser->draft->ns;
    const char *text = parser->lexer.text + parser->start + ns.offset;
    return ns.length == strlen(word) && memcmp(text, word, ns.length) == 0;
}

// A word of no type is a type variable in the namespaces whose old schemas have them.
static bool is_variable(const kwi_parser *parser)
{
    char first = parser->lexer.text[parser->token.offset];
    return parser->token.kind == KWI_TOKEN_IDENTIFIER && first >= 'a' && first <= 'z' &&
           (namespace_is(parser, "aten") || namespace_is(parser, "prim"));
}

static bool word(kwi_parser *parser, uint16_t *out_type)
{
    const kwi_type_list none = {.count = 0};
    const kwi_token token = parser->token;
    kw_type_kind kind = KW_TYPE_VARIABLE;
    // "None" and "NoneType" are words of the language that are types too.
    bool is_word = token.kind == KWI_TOKEN_IDENTIFIER || token.kind == KWI_TOKEN_KEYWORD;
    const char *text = parser->lexer.text + token.offset;
    if (!is_word || (!kwi_type_kind_find(text, token.length, &kind) && !is_variable(parser))) {
        return fail_word(parser);
    }
    if (!kwi_draft_add(parser, token.offset, kind, &none, out_type)) {
        return false;
    }
    (void)kwi_parser_take(parser, token.kind);
    kwi_read_type *read = &kwi_draft_node(parser, *out_type)->type;
    if (kind == KW_TYPE_VARIABLE) {
        read->more.name = kwi_parser_extent(parser, token.offset);
    }
    return kwi_parse_alias(parser, read);
}

bool kwi_parse_base(kwi_parser *parser, uint16_t *out_type)
{
    if (parser->depth >= KWI_TYPE_DEPTH_MAX) {
        return kwi_parser_fail_at(parser, parser->token.offset, "types are nested at most %d deep",
                                  KWI_TYPE_DEPTH_MAX);
    }
    if (parser->token.kind == '(') {
        return tuple(parser, out_type);
    }
    for (size_t i = 0; i < sizeof composites / sizeof composites[0]; i++) {
        if (kwi_parser_token_is(parser, composites[i].word)) {
            return composite_type(parser, &composites[i], out_type);
        }
    }
    return kwi_parser_token_is(parser, "__torch__") ? class_type(parser, out_type)
                                                    : word(parser, out_type);
}
