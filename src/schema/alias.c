// Alias annotations: read again from the schema's text, compared as sets, printed in order.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/alias.h"

#include <string.h>

#include "schema/lexer.h"

// Each name once, in order.
typedef struct alias_set {
    kw_text_view names[KWI_ALIAS_NAMES_MAX];
    uint32_t count;
} alias_set;

// By bytes, but with the wildcard last, where the language wants it.
static int order(kw_text_view a, kw_text_view b)
{
    if (a.data[0] == '*' || b.data[0] == '*') {
        return (a.data[0] == '*') - (b.data[0] == '*');
    }
    size_t common = a.length < b.length ? a.length : b.length;
    int difference = memcmp(a.data, b.data, common);
    return difference != 0 ? difference : (a.length > b.length) - (a.length < b.length);
}

static void add_name(alias_set *set, kw_text_view name)
{
    uint32_t place = set->count;
    while (place > 0 && order(set->names[place - 1], name) >= 0) {
        place--;
    }
    if (place < set->count && order(set->names[place], name) == 0) {
        return;
    }
    memmove(&set->names[place + 1], &set->names[place],
            (set->count - place) * sizeof set->names[0]);
    set->names[place] = name;
    set->count++;
}

static kwi_lexer open_alias(const kw_type *type)
{
    const kwi_extent alias = kwi_type_more_of(type)->alias;
    kwi_lexer lexer;
    kwi_lexer_init(&lexer, kwi_type_text(type) + alias.offset, alias.length);
    (void)kwi_lexer_next(&lexer); // the parenthesis, or the mark of an anonymous one
    return lexer;
}

// Reads the names before "!", "->" or the end; whether an arrow follows.
static bool read_set(kwi_lexer *lexer, alias_set *set)
{
    set->count = 0;
    kwi_token token = kwi_lexer_next(lexer);
    while (token.kind == KWI_TOKEN_IDENTIFIER || token.kind == '*' || token.kind == '|') {
        if (token.kind != '|') {
            add_name(set, (kw_text_view){lexer->text + token.offset, token.length});
        }
        token = kwi_lexer_next(lexer);
    }
    if (token.kind == '!') {
        token = kwi_lexer_next(lexer);
    }
    return token.kind == KWI_TOKEN_ARROW;
}

// Reads both sets; without "->" they are the same.
static void read_alias(const kw_type *type, alias_set *before, alias_set *after)
{
    kwi_lexer lexer = open_alias(type);
    if (read_set(&lexer, before)) {
        (void)read_set(&lexer, after);
    } else {
        memcpy(after, before, sizeof *after);
    }
}

static int order_sets(const alias_set *a, const alias_set *b)
{
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        int difference = order(a->names[i], b->names[i]);
        if (difference != 0) {
            return difference;
        }
    }
    return (int)a->count - (int)b->count;
}

static int alias_length(const kw_type *type)
{
    return kwi_type_more_of(type)->alias.length;
}

static bool is_anonymous(const kw_type *type)
{
    return alias_length(type) == 1;
}

int kwi_alias_order(const kw_type *a, const kw_type *b)
{
    bool sets = alias_length(a) > 1 && alias_length(b) > 1;
    if (!sets || a->written != b->written) {
        return sets ? a->written - b->written : alias_length(a) - alias_length(b);
    }
    alias_set before_a;
    alias_set before_b;
    alias_set after_a;
    alias_set after_b;
    read_alias(a, &before_a, &after_a);
    read_alias(b, &before_b, &after_b);
    int difference = order_sets(&before_a, &before_b);
    return difference != 0 ? difference : order_sets(&after_a, &after_b);
}

static void print_set(const alias_set *set, kwi_text *text)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const kw_text_view name = set->names[i];
        kwi_text_add(text, "%s%.*s", i > 0 ? "|" : "", (int)name.length, name.data);
    }
}

void kwi_alias_print(const kw_type *type, kwi_text *text)
{
    if (alias_length(type) == 0) {
        return;
    }
    if (is_anonymous(type)) {
        kwi_text_add(text, "!");
        return;
    }
    alias_set before;
    alias_set after;
    read_alias(type, &before, &after);
    kwi_text_add(text, "(");
    print_set(&before, text);
    kwi_text_add(text, "%s", type->written ? "!" : "");
    if (order_sets(&before, &after) != 0) {
        kwi_text_add(text, " -> ");
        print_set(&after, text);
    }
    kwi_text_add(text, ")");
}
