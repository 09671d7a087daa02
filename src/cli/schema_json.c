// `keyway schema --json`: the object of one declaration.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"
#include "cli/schema.h"

// Adds a text, or null if there is none.
static void add_view(cli_json *json, const char *name, kw_text_view text)
{
    if (text.length > 0) {
        cli_json_text(json, name, text.data, text.length);
    } else {
        cli_json_null(json, name);
    }
}

static void add_type(cli_json *json, const kw_type *type)
{
    size_t length = kw_type_format(type, NULL, 0);
    char *text = cli_allocate(length + 1);
    (void)kw_type_format(type, text, length + 1);
    cli_json_string(json, "type", text);
    free(text);
}

// The outermost annotation: that of a list, or else the one of its elements.
static kw_text_view alias_of(const kw_type *type)
{
    kw_text_view alias = kw_type_alias(type);
    while (alias.length == 0 &&
           (kw_type_kind_of(type) == KW_TYPE_OPTIONAL || kw_type_kind_of(type) == KW_TYPE_LIST)) {
        type = kw_type_child(type, 0);
        alias = kw_type_alias(type);
    }
    return alias;
}

static void add_default(cli_json *json, const kw_schema *schema, uint32_t index)
{
    size_t length = kw_schema_default_format(schema, index, NULL, 0);
    if (length == 0) {
        cli_json_null(json, "default");
        return;
    }
    char *text = cli_allocate(length + 1);
    (void)kw_schema_default_format(schema, index, text, length + 1);
    cli_json_string(json, "default", text);
    free(text);
}

static void add_arg(cli_json *json, const kw_schema *schema, uint32_t index)
{
    const kw_argument arg = kw_schema_arg(schema, index);
    cli_json_object_open(json);
    add_view(json, "name", arg.name);
    add_type(json, arg.type);
    add_default(json, schema, index);
    add_view(json, "alias", alias_of(arg.type));
    cli_json_bool(json, "keyword_only", arg.keyword_only);
    cli_json_bool(json, "written", arg.written);
    cli_json_bool(json, "out", arg.out);
    cli_json_object_close(json);
}

static void add_return(cli_json *json, const kw_schema *schema, uint32_t index)
{
    const kw_argument result = kw_schema_return(schema, index);
    cli_json_object_open(json);
    add_view(json, "name", result.name);
    add_type(json, result.type);
    add_view(json, "alias", alias_of(result.type));
    cli_json_bool(json, "written", result.written);
    cli_json_object_close(json);
}

static void add_signature(cli_json *json, const kw_schema *schema)
{
    size_t length = kw_schema_c_signature(schema, NULL, 0);
    char *text = cli_allocate(length + 1);
    (void)kw_schema_c_signature(schema, text, length + 1);
    cli_json_string(json, "signature", length > 0 ? text : NULL);
    free(text);
}

static void add_schema(cli_json *json, const kw_schema *schema)
{
    char *text = cli_schema_text(schema);
    cli_json_string(json, "name", kw_schema_name(schema));
    cli_json_string(json, "schema", text);
    free(text);
    cli_json_list_open(json, "args");
    for (uint32_t i = 0; i < kw_schema_arg_count(schema); i++) {
        add_arg(json, schema, i);
    }
    cli_json_list_close(json);
    cli_json_bool(json, "vararg", kw_schema_is_vararg(schema));
    cli_json_list_open(json, "returns");
    for (uint32_t i = 0; i < kw_schema_return_count(schema); i++) {
        add_return(json, schema, i);
    }
    cli_json_list_close(json);
    cli_json_bool(json, "varret", kw_schema_is_varret(schema));
    add_signature(json, schema);
}

void cli_schema_print_object(const cli_parsed *parsed)
{
    bool is_good = parsed->schema != NULL;
    cli_json json = cli_json_open();
    cli_json_string(&json, "file", parsed->file);
    cli_json_number(&json, "line", parsed->wrong.line);
    cli_json_number(&json, "column", parsed->wrong.column);
    cli_json_string(&json, "status", kw_status_name(is_good ? KW_OK : parsed->err.status));
    if (is_good) {
        add_schema(&json, parsed->schema);
    } else {
        if (parsed->err.position != KW_NO_POSITION) {
            cli_json_number(&json, "offset", parsed->err.position);
        } else {
            cli_json_null(&json, "offset");
        }
        cli_json_string(&json, "message", parsed->err.text);
    }
    cli_json_close(&json);
}
