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
    const kw_text_view name = kwi_schema_arg_name(schema, at->index);
    bool is_return = at->index >= schema->arg_count;
    uint32_t number = at->index + 1 - (is_return ? schema->arg_count : 0);
    kwi_text_add(at->reason, "%s %u", is_return ? "return" : "argument", (unsigned)number);
    if (named && name.length > 0) {
        kwi_text_add(at->reason, " \"%.*s\"", (int)name.length, name.data);
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
    kwi_type_print(&kwi_schema_types(schema)[index], true, text);
}

static void print_plain(const kw_schema *schema, uint32_t index, kwi_text *text)
{
    kwi_type_print(&kwi_schema_types(schema)[index], false, text);
}

static void print_name(const kw_schema *schema, uint32_t index, kwi_text *text)
{
    const kw_text_view name = kwi_schema_arg_name(schema, index);
    if (name.length > 0) {
        kwi_text_add(text, "\"%.*s\"", (int)name.length, name.data);
    } else {
        kwi_text_add(text, "none");
    }
}

static void print_default(const kw_schema *schema, uint32_t index, kwi_text *text)
{
    if (kwi_schema_arg_default(schema, index).length > 0) {
        kwi_default_print(schema, index, text);
    } else {
        kwi_text_add(text, "none");
    }
}

static void print_keyword(const kw_schema *schema, uint32_t index, kwi_text *text)
{
    kwi_text_add(text, kwi_schema_is_keyword(schema, index) ? "keyword-only" : "positional");
}

static bool name_equal(const place *at)
{
    const kw_text_view a = kwi_schema_arg_name(at->expected, at->index);
    const kw_text_view b = kwi_schema_arg_name(at->found, at->index);
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
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
    if (!kwi_type_equal(&kwi_schema_types(a)[at->index], &kwi_schema_types(b)[at->index])) {
        return fail(at, true, "type ", print_annotated);
    }
    if (!name_equal(at)) {
        return fail(at, false, "name ", print_name);
    }
    if (at->index < a->arg_count && !default_equal(at)) {
        return fail(at, true, "default ", print_default);
    }
    if (kwi_schema_is_keyword(a, at->index) != kwi_schema_is_keyword(b, at->index)) {
        return fail(at, true, "", print_keyword);
    }
    return true;
}

static bool argument_compatible(const place *at)
{
    return kwi_type_compatible(&kwi_schema_types(at->expected)[at->index],
                               &kwi_schema_types(at->found)[at->index]) ||
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
    if (strcmp(kwi_schema_name(a), kwi_schema_name(b)) != 0) {
        if (reason != NULL) {
            kwi_text_add(reason, "name %s expected, %s found", kwi_schema_name(a),
                         kwi_schema_name(b));
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
