// Schemas: two comparisons, with the first difference as a clause.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "schema/lexer.h"
#include "schema/schema.h"

// Bytes shown of a token.
#define TOKEN_SHOWN 40

static void add_token(kwi_text *reason, const char *text, const kwi_token *token)
{
    if (token->length == 0) {
        kwi_text_add(reason, "the end");
    } else {
        int length = token->length < TOKEN_SHOWN ? (int)token->length : TOKEN_SHOWN;
        kwi_text_add(reason, "\"%.*s\"", length, text + token->offset);
    }
}

// Both texts parsed, so their tokens are well formed and end.
bool kwi_schema_equal(const kwi_schema *a, const kwi_schema *b, kwi_text *reason)
{
    kwi_lexer lexer_a;
    kwi_lexer lexer_b;
    kwi_lexer_init(&lexer_a, a->text);
    kwi_lexer_init(&lexer_b, b->text);
    for (;;) {
        kwi_token token_a = kwi_lexer_next(&lexer_a);
        kwi_token token_b = kwi_lexer_next(&lexer_b);
        bool same = token_a.length == token_b.length &&
                    memcmp(a->text + token_a.offset, b->text + token_b.offset, token_a.length) == 0;
        if (same && token_a.kind == KWI_TOKEN_END) {
            return true;
        }
        if (!same) {
            if (reason != NULL) {
                add_token(reason, a->text, &token_a);
                kwi_text_add(reason, " at byte %u against ", (unsigned)token_a.offset);
                add_token(reason, b->text, &token_b);
                kwi_text_add(reason, " at byte %u", (unsigned)token_b.offset);
            }
            return false;
        }
    }
}

static uint8_t comparable_kind(uint8_t kind)
{
    return kind == KWI_TYPE_SYM_INT ? KWI_TYPE_INT : kind;
}

static bool type_compatible(const kwi_type *a, const kwi_type *b)
{
    return comparable_kind(a->kind) == comparable_kind(b->kind) && a->optional == b->optional &&
           a->list == b->list && a->element_optional == b->element_optional;
}

typedef struct argument_list {
    const kwi_argument *data;
    uint32_t count;
    const char *word; // "argument" or "return"
} argument_list;

static bool count_compatible(argument_list expected, argument_list found, kwi_text *reason)
{
    if (expected.count == found.count) {
        return true;
    }
    if (reason != NULL) {
        kwi_text_add(reason, "%u %s%s expected, %u found", (unsigned)expected.count, expected.word,
                     expected.count == 1 ? "" : "s", (unsigned)found.count);
    }
    return false;
}

static bool types_compatible(argument_list expected, argument_list found, kwi_text *reason)
{
    for (uint32_t i = 0; i < expected.count; i++) {
        const kwi_type *a = &expected.data[i].type;
        const kwi_type *b = &found.data[i].type;
        if (type_compatible(a, b)) {
            continue;
        }
        if (reason != NULL) {
            kwi_text_add(reason, "%s %u: type ", expected.word, (unsigned)i + 1);
            kwi_type_print(a, reason);
            kwi_text_add(reason, " expected, ");
            kwi_type_print(b, reason);
            kwi_text_add(reason, " found");
        }
        return false;
    }
    return true;
}

kw_status kwi_schema_mismatch(const kwi_schema *expected, const kwi_schema *found, kwi_text *reason)
{
    const argument_list args_a = {expected->args, expected->arg_count, "argument"};
    const argument_list args_b = {found->args, found->arg_count, "argument"};
    const argument_list returns_a = {expected->returns, expected->return_count, "return"};
    const argument_list returns_b = {found->returns, found->return_count, "return"};
    if (!count_compatible(args_a, args_b, reason)) {
        return KW_ARGUMENT_COUNT_MISMATCH;
    }
    if (!count_compatible(returns_a, returns_b, reason)) {
        return KW_RETURN_COUNT_MISMATCH;
    }
    if (!types_compatible(args_a, args_b, reason)) {
        return KW_ARGUMENT_TYPE_MISMATCH;
    }
    return types_compatible(returns_a, returns_b, reason) ? KW_OK : KW_RETURN_TYPE_MISMATCH;
}

bool kwi_schema_compatible(const kwi_schema *expected, const kwi_schema *found, kwi_text *reason)
{
    return kwi_schema_mismatch(expected, found, reason) == KW_OK;
}
