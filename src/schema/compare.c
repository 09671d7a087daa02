// Schemas: two comparisons, with the first difference as a clause.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "schema/default.h"
#include "schema/print.h"
#include "schema/schema.h"

// Two schemas at one argument or return, which `index` counts as D5 does. The clause of what
// differs goes to `reason`, which may be NULL.
typedef struct place {
    const kw_schema *expected;
    const kw_schema *found;
    uint32_t index;
    kwi_text *reason;
} place;

// Begins a clause with "argument 2 "name": ".
static void add_place(const place *at, bool named)
{
    const kw_schema *schema = at->expected;
    const kwi_extent name = schema->args[at->index].name;
    bool is_return = at->index >= schema->arg_count;
    uint32_t number = at->index + 1 - (is_return ? schema->arg_count : 0);
    kwi_text_add(at->reason, "%s %u", is_return ? "return" : "argument", (unsigned)number);
    if (named && name.length > 0) {
        kwi_text_add(at->reason, " \"%.*s\"", (int)name.length, schema->text + name.offset);
    }
    kwi_text_add(at->reason, ": ");
}

// Adds one side of a clause.
typedef void print_side(const kw_schema *schema, uint32_t index, kwi_text *text);

static bool fail(const place *at, bool named, const char *what, print_side *print)
{
    if (at->reason != NULL) {
        add_place(at, named);
        kwi_text_add(at->reason, "%s", what);
        print(at->expected, at->index, at->reason);
        kwi_text_add(at->reason, " expected, ");
        print(at->found, at->index, at->reason);
        kwi_text_add(at->reason, " found");
    }
    return false;
}

static void print_annotated(const kw_schema *schema, uint32_t index, kwi_text *text)
{
    kwi_type_print(&schema->types[index], true, text);
}

static void print_plain(const kw_schema *schema, uint32_t index, kwi_text *text)
{
    kwi_type_print(&schema->types[index], false, text);
}

static void print_name(const kw_schema *schema, uint32_t index, kwi_text *text)
{
    const kwi_extent name = schema->args[index].name;
    if (name.length > 0) {
        kwi_text_add(text, "\"%.*s\"", (int)name.length, schema->text + name.offset);
    } else {
        kwi_text_add(text, "none");
    }
}

static void print_default(const kw_schema *schema, uint32_t index, kwi_text *text)
{
    if (schema->args[index].default_text.length > 0) {
        kwi_default_print(schema, index, text);
    } else {
        kwi_text_add(text, "none");
    }
}

static void print_keyword(const kw_schema *schema, uint32_t index, kwi_text *text)
{
    kwi_text_add(text, schema->args[index].keyword_only ? "keyword-only" : "positional");
}

static bool name_equal(const place *at)
{
    const kwi_extent a = at->expected->args[at->index].name;
    const kwi_extent b = at->found->args[at->index].name;
    return a.length == b.length &&
           memcmp(at->expected->text + a.offset, at->found->text + b.offset, a.length) == 0;
}

// By value. Long repetitions of one constant are compared by it.
static bool default_equal(const place *at)
{
    kwi_default a;
    kwi_default b;
    bool has_a = kwi_default_open(at->expected, at->index, &a);
    bool has_b = kwi_default_open(at->found, at->index, &b);
    if (!has_a || !has_b) {
        return has_a == has_b;
    }
    uint32_t count = a.repeated && b.repeated && a.count > 0 ? 1 : a.count;
    bool same = a.is_list == b.is_list && a.count == b.count;
    for (uint32_t i = 0; same && i < count; i++) {
        const kwi_constant constant_a = kwi_default_next(&a);
        const kwi_constant constant_b = kwi_default_next(&b);
        same = kwi_constant_equal(&constant_a, &constant_b);
    }
    return same;
}

static bool argument_equal(const place *at)
{
    const kw_schema *a = at->expected;
    const kw_schema *b = at->found;
    if (!kwi_type_equal(&a->types[at->index], &b->types[at->index])) {
        return fail(at, true, "type ", print_annotated);
    }
    if (!name_equal(at)) {
        return fail(at, false, "name ", print_name);
    }
    if (at->index < a->arg_count && !default_equal(at)) {
        return fail(at, true, "default ", print_default);
    }
    if (a->args[at->index].keyword_only != b->args[at->index].keyword_only) {
        return fail(at, true, "", print_keyword);
    }
    return true;
}

static bool argument_compatible(const place *at)
{
    return kwi_type_compatible(&at->expected->types[at->index], &at->found->types[at->index]) ||
           fail(at, true, "type ", print_plain);
}

static bool count_equal(uint32_t expected, uint32_t found, const char *word, kwi_text *reason)
{
    if (expected != found && reason != NULL) {
        kwi_text_add(reason, "%u %s%s expected, %u found", (unsigned)expected, word,
                     expected == 1 ? "" : "s", (unsigned)found);
    }
    return expected == found;
}

static bool mark_equal(bool expected, bool found, const char *word, kwi_text *reason)
{
    if (expected != found && reason != NULL) {
        kwi_text_add(reason, "%s\"...\" after the %s expected, %s found", expected ? "" : "no ",
                     word, found ? "one" : "none");
    }
    return expected == found;
}

static bool header_equal(const kw_schema *a, const kw_schema *b, kwi_text *reason)
{
    if (strcmp(a->name, b->name) != 0) {
        if (reason != NULL) {
            kwi_text_add(reason, "name %s expected, %s found", a->name, b->name);
        }
        return false;
    }
    return count_equal(a->arg_count, b->arg_count, "argument", reason) &&
           count_equal(a->return_count, b->return_count, "return", reason) &&
           mark_equal(a->vararg, b->vararg, "arguments", reason) &&
           mark_equal(a->varret, b->varret, "returns", reason);
}

bool kwi_schema_equal(const kw_schema *a, const kw_schema *b, kwi_text *reason)
{
    bool equal = header_equal(a, b, reason);
    place at = {.expected = a, .found = b, .reason = reason};
    for (; equal && at.index < (uint32_t)a->arg_count + a->return_count; at.index++) {
        equal = argument_equal(&at);
    }
    return equal;
}

kw_status kwi_schema_mismatch(const kw_schema *expected, const kw_schema *found, kwi_text *reason)
{
    if (!count_equal(expected->arg_count, found->arg_count, "argument", reason)) {
        return KW_ARGUMENT_COUNT_MISMATCH;
    }
    if (!count_equal(expected->return_count, found->return_count, "return", reason)) {
        return KW_RETURN_COUNT_MISMATCH;
    }
    place at = {.expected = expected, .found = found, .reason = reason};
    for (; at.index < (uint32_t)expected->arg_count + expected->return_count; at.index++) {
        if (!argument_compatible(&at)) {
            return at.index < expected->arg_count ? KW_ARGUMENT_TYPE_MISMATCH
                                                  : KW_RETURN_TYPE_MISMATCH;
        }
    }
    return KW_OK;
}

bool kwi_schema_compatible(const kw_schema *expected, const kw_schema *found, kwi_text *reason)
{
    return kwi_schema_mismatch(expected, found, reason) == KW_OK;
}

kw_schema_relation kw_schema_compare(const kw_schema *expected, const kw_schema *found,
                                     char *reason, size_t size)
{
    kwi_text text;
    kwi_text_init(&text, reason, size);
    if (!kwi_schema_compatible(expected, found, &text)) {
        return KW_SCHEMA_DIFFERENT;
    }
    return kwi_schema_equal(expected, found, &text) ? KW_SCHEMA_EQUAL : KW_SCHEMA_COMPATIBLE;
}
