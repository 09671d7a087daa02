// `call` and `redispatch`: runs an operator and prints which kernel ran.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <keyway/call.h>

#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/json.h"
#include "cli/memory.h"

// What a call came to. `status` is the call's, or that of looking the operator up.
typedef struct result {
    kw_status status;
    const char *text; // of a failure
    cli_outcome outcome;
} result;

static const char *at(const result *found)
{
    return kw_key_name(kw_key_of_slot((int)kw_keyset_slot(found->outcome.keys)));
}

// Adds the names of a list of keys as they are written; brackets are no names.
static void add_names(cli_json *json, const char *keys)
{
    static const char separators[] = ",|(){} \t";
    static const char bracket[] = "DispatchKeySet";
    for (const char *next = keys + strspn(keys, separators); *next != '\0';) {
        size_t length = strcspn(next, separators);
        if (length != sizeof bracket - 1 || memcmp(next, bracket, length) != 0) {
            cli_json_item(json, next, length);
        }
        next += length;
        next += strspn(next, separators);
    }
}

static void print_object(const cli_statement *statement, const result *found)
{
    cli_json json = cli_json_open();
    cli_json_string(&json, "statement", statement->name);
    cli_json_string(&json, "op", statement->words[0]);
    cli_json_list_open(&json, "keys");
    add_names(&json, statement->rest);
    cli_json_list_close(&json);
    if (found->status == KW_OK) {
        cli_json_string(&json, "kernel", found->outcome.kernel);
        cli_json_string(&json, "at", at(found));
    } else {
        cli_json_string(&json, "error", cli_status_name(found->status));
        cli_json_string(&json, "text", found->text);
        cli_json_number(&json, "line", statement->line);
    }
    cli_json_close(&json);
}

static void print_line(const cli_style *style, const cli_statement *statement, const result *found)
{
    const char *plain = cli_colour_code(style, CLI_PLAIN);
    (void)printf("%s %s ", statement->name, statement->words[0]);
    for (const char *next = statement->rest; *next != '\0'; next++) {
        if (*next != ' ' && *next != '\t') {
            (void)putchar(*next);
        }
    }
    (void)fputs(statement->rest[0] != '\0' ? " -> " : "-> ", stdout);
    if (found->status == KW_OK) {
        (void)printf("%s%s%s at %s\n", cli_colour_code(style, CLI_GOOD), found->outcome.kernel,
                     plain, at(found));
        return;
    }
    (void)printf("%serror %s%s\n", cli_colour_code(style, CLI_BAD), cli_status_name(found->status),
                 plain);
    if (style->is_terminal) {
        (void)printf("  %s%s%s\n", cli_colour_code(style, CLI_FAINT), found->text, plain);
    }
}

static void run(cli_scene *scene, const kw_operator *op, bool is_redispatch, kw_keyset keys,
                result *found)
{
    cli_arguments arguments;
    cli_arguments_make(&arguments, op, keys);
    scene->outcome = (cli_outcome){.kernel = NULL};
    found->status = is_redispatch ? kw_redispatch_boxed(op, keys, &arguments.frame)
                                  : kw_call_boxed(op, &arguments.frame);
    found->text = found->status != KW_OK ? kw_call_error() : "";
    found->outcome = scene->outcome;
}

kw_status cli_answer_call(cli_scene *scene, const cli_style *style, const cli_statement *statement,
                          kw_error *err)
{
    kw_keyset keys = kw_keyset_empty();
    if (statement->rest[0] != '\0') {
        kw_status status = kw_keyset_parse(statement->rest, &keys, err);
        if (status != KW_OK) {
            return status;
        }
    }
    const kw_operator *op = NULL;
    kw_error reason = KW_ERROR_INIT;
    result found = {.text = reason.text};
    found.status = kw_operator_find(scene->dispatcher, statement->words[0], &op, &reason);
    if (found.status == KW_OK) {
        run(scene, op, statement->verb == CLI_REDISPATCH, keys, &found);
    }
    if (style->is_json) {
        print_object(statement, &found);
    } else {
        print_line(style, statement, &found);
    }
    return KW_OK;
}
