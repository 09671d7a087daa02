// Printing: the declaration in the form of the original, where that form reads back; where it does
// not, in the nearest one that does.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/print.h"

#include "schema/schema.h"

static void print_argument(const kw_schema *schema, uint32_t index, kwi_text *text)
{
    const kw_text_view name = kwi_schema_arg_name(schema, index);
    kwi_type_print(&kwi_schema_types(schema)[index], true, text);
    if (name.length > 0) {
        kwi_text_add(text, " %.*s", (int)name.length, name.data);
    }
    if (kwi_schema_arg_default(schema, index).length > 0) {
        kwi_text_add(text, "=");
        kwi_default_print(schema, index, text);
    }
}

static void print_arguments(const kw_schema *schema, kwi_text *text)
{
    bool keyword_only = false;
    kwi_text_add(text, "(");
    for (uint32_t i = 0; i < schema->arg_count; i++) {
        kwi_text_add(text, "%s", i > 0 ? ", " : "");
        if (kwi_schema_is_keyword(schema, i) && !keyword_only) {
            keyword_only = true;
            kwi_text_add(text, "*, ");
        }
        print_argument(schema, i, text);
    }
    if (schema->vararg) {
        kwi_text_add(text, schema->arg_count > 0 ? ", ..." : "...");
    }
    kwi_text_add(text, ")");
}

// Does the type's text begin with a parenthesis, as a list of returns does?
static bool begins_as_tuple(const kw_type *type)
{
    while (type->kind == KW_TYPE_LIST || type->kind == KW_TYPE_OPTIONAL) {
        type = kwi_type_child(type, 0);
    }
    return type->kind == KW_TYPE_TUPLE;
}

static void print_returns(const kw_schema *schema, kwi_text *text)
{
    uint32_t count = (uint32_t)schema->return_count + (schema->varret ? 1 : 0);
    bool bare =
        count == 1 && (schema->varret || !begins_as_tuple(kwi_schema_return_type(schema, 0)));
    kwi_text_add(text, bare ? " -> " : " -> (");
    for (uint32_t i = 0; i < schema->return_count; i++) {
        kwi_text_add(text, "%s", i > 0 ? ", " : "");
        print_argument(schema, schema->arg_count + i, text);
    }
    if (schema->varret) {
        kwi_text_add(text, schema->return_count > 0 ? ", ..." : "...");
    }
    kwi_text_add(text, bare ? "" : ")");
}

size_t kw_schema_format(const kw_schema *schema, char *buffer, size_t size)
{
    kwi_text text;
    kwi_text_init(&text, buffer, size);
    kwi_text_add(&text, "%s", kwi_schema_name(schema));
    print_arguments(schema, &text);
    print_returns(schema, &text);
    return text.wanted;
}
