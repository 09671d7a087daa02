// `table`: prints the kernel and the rule of each slot of an operator.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <keyway/inspect.h>

#include "cli/answer.h"
#include "cli/json.h"
#include "cli/memory.h"

// A slot's row, with texts of its own.
typedef struct row {
    kw_key key;
    bool falls_through;
    char *kernel;  // NULL: no kernel of a library serves the slot
    char *library; // NULL like that
    char *rule;
    char *file; // NULL: not known
    uint32_t line;
} row;

typedef struct table {
    unsigned count;
    bool has_missing; // whether rows of slots that resolve to nothing are wanted
    row rows[KW_SLOT_COUNT];
} table;

static void add_row(const kw_table_row *from, void *context)
{
    table *into = context;
    if (!into->has_missing && strcmp(from->rule, "missing") == 0) {
        return;
    }
    const char *kernel = from->is_fallthrough ? "fallthrough" : from->kernel;
    into->rows[into->count++] = (row){
        .key = from->key,
        .falls_through = from->is_fallthrough,
        .kernel = cli_copy(from->library != NULL ? kernel : NULL),
        .library = cli_copy(from->library),
        .rule = cli_copy(from->rule),
        .file = cli_copy(from->file[0] != '\0' ? from->file : NULL),
        .line = from->line,
    };
}

static void free_rows(table *rows)
{
    for (unsigned i = 0; i < rows->count; i++) {
        free(rows->rows[i].kernel);
        free(rows->rows[i].library);
        free(rows->rows[i].rule);
        free(rows->rows[i].file);
    }
}

static void print_object(const char *op, const row *slot)
{
    cli_json json = cli_json_open();
    cli_json_string(&json, "statement", "table");
    cli_json_string(&json, "op", op);
    cli_json_string(&json, "key", kw_key_name(slot->key));
    cli_json_string(&json, "kernel", slot->kernel);
    cli_json_string(&json, "rule", slot->rule);
    cli_json_bool(&json, "fallthrough", slot->falls_through);
    cli_json_string(&json, "library", slot->library);
    if (slot->file != NULL) {
        cli_json_number(&json, "line", slot->line);
    } else {
        cli_json_null(&json, "line");
    }
    cli_json_string(&json, "file", slot->file);
    cli_json_close(&json);
}

// On a terminal -----------------------------------------------------------------------------------

static bool is_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

// Whether two neighbours of one building block are served alike.
static bool is_alike(const row *a, const row *b)
{
    return kw_key_functionality(a->key) == kw_key_functionality(b->key) && a->line == b->line &&
           is_same_text(a->kernel, b->kernel) && is_same_text(a->rule, b->rule) &&
           is_same_text(a->library, b->library) && is_same_text(a->file, b->file);
}

static void print_run(const cli_style *style, const row *first, const row *last)
{
    bool is_grouped = kw_key_backend(first->key) != KW_BACKEND_INVALID;
    cli_colour colour = first->kernel == NULL  ? CLI_BAD
                        : first->falls_through ? CLI_FAINT
                                               : CLI_GOOD;
    (void)printf("%s%s", is_grouped ? "  " : "", kw_key_name(first->key));
    if (last != first) {
        (void)printf(" to %s", kw_key_name(last->key));
    }
    (void)printf(": %s%s%s [%s]", cli_colour_code(style, colour),
                 first->kernel != NULL ? first->kernel : "-", cli_colour_code(style, CLI_PLAIN),
                 first->rule);
    if (first->library != NULL) {
        (void)printf(" %s%s", cli_colour_code(style, CLI_FAINT), first->library);
        if (first->file != NULL) {
            (void)printf(":%u", first->line);
        }
        (void)fputs(cli_colour_code(style, CLI_PLAIN), stdout);
    }
    (void)putchar('\n');
}

// Groups the keys of each building block under its name, neighbours that are alike in one line.
static void print_groups(const cli_style *style, const table *rows)
{
    kw_key group = KW_KEY_Undefined;
    for (unsigned first = 0, next; first < rows->count; first = next) {
        const row *start = &rows->rows[first];
        for (next = first + 1; next < rows->count && is_alike(start, &rows->rows[next]) &&
                               rows->rows[next].key == rows->rows[next - 1].key + 1;) {
            next++;
        }
        kw_key functionality = kw_key_functionality(start->key);
        if (kw_key_is_per_backend(functionality) && functionality != group) {
            (void)printf("%s%s%s\n", cli_colour_code(style, CLI_BOLD), kw_key_name(functionality),
                         cli_colour_code(style, CLI_PLAIN));
        }
        group = functionality;
        print_run(style, start, &rows->rows[next - 1]);
    }
}

// The statement -----------------------------------------------------------------------------------

static void print_rows(const cli_style *style, const char *op, const table *rows)
{
    if (style->is_terminal) {
        print_groups(style, rows);
        return;
    }
    for (unsigned i = 0; i < rows->count; i++) {
        const row *slot = &rows->rows[i];
        if (style->is_json) {
            print_object(op, slot);
        } else {
            (void)printf("%s: %s [%s]\n", kw_key_name(slot->key),
                         slot->kernel != NULL ? slot->kernel : "-", slot->rule);
        }
    }
}

kw_status cli_answer_table(const cli_scene *scene, const cli_style *style,
                           const cli_statement *statement, kw_error *err)
{
    const char *name = statement->words[0];
    const char *all = statement->words[1];
    if (all != NULL && strcmp(all, "all") != 0) {
        return cli_fail(err, CLI_SYNTAX, "`%.64s` is too much; the form is `table OPERATOR [all]`",
                        all);
    }
    const kw_operator *op = NULL;
    kw_status status = kw_operator_find(scene->dispatcher, name, &op, err);
    if (status != KW_OK) {
        return status;
    }
    table rows = {.has_missing = all != NULL};
    status = kw_operator_visit_table(op, add_row, &rows);
    if (status == KW_OK) {
        print_rows(style, name, &rows);
    } else {
        (void)cli_fail(err, status, "%s", kw_status_message(status));
    }
    free_rows(&rows);
    return status;
}
