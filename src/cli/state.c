// `state`: prints an operator's registrations, newest first.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include <keyway/inspect.h>

#include "cli/answer.h"
#include "cli/json.h"
#include "cli/memory.h"

typedef struct printing {
    const cli_style *style;
    const char *op;
} printing;

static const char *kind_of(const kw_registration_row *row)
{
    return row->is_definition               ? "schema"
           : row->kind == KW_KERNEL_UNBOXED ? "unboxed"
           : row->kind == KW_KERNEL_BOXED   ? "boxed"
                                            : "fallthrough";
}

static void print_object(const kw_registration_row *row, const char *op)
{
    cli_json json = cli_json_open();
    cli_json_string(&json, "statement", "state");
    cli_json_string(&json, "op", op);
    cli_json_string(&json, "key", row->is_definition ? NULL : kw_key_name(row->key));
    cli_json_string(&json, row->is_definition ? "schema" : "kernel", row->name);
    cli_json_string(&json, "kind", kind_of(row));
    cli_json_bool(&json, "active", row->is_active);
    cli_json_string(&json, "library", row->library);
    cli_json_number(&json, "line", row->line);
    cli_json_string(&json, "file", row->file);
    cli_json_close(&json);
}

static void print_row(const kw_registration_row *row, void *context)
{
    const printing *how = context;
    if (how->style->is_json) {
        print_object(row, how->op);
        return;
    }
    (void)printf("%s%s: %s [%s]%s %s:%u%s\n",
                 cli_colour_code(how->style, row->is_active ? CLI_PLAIN : CLI_FAINT),
                 row->is_definition ? "define" : kw_key_name(row->key), row->name, kind_of(row),
                 row->is_active ? "" : " (inactive)", row->library, row->line,
                 cli_colour_code(how->style, CLI_PLAIN));
}

kw_status cli_answer_state(const cli_scene *scene, const cli_style *style,
                           const cli_statement *statement, kw_error *err)
{
    const kw_operator *op = NULL;
    kw_status status = kw_operator_find(scene->dispatcher, statement->words[0], &op, err);
    if (status != KW_OK) {
        return status;
    }
    printing how = {style, statement->words[0]};
    status = kw_operator_visit_registrations(op, print_row, &how);
    if (status != KW_OK) {
        (void)cli_fail(err, status, "%s", kw_status_message(status));
    }
    return status;
}
