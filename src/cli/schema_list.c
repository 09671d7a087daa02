// Lists of declarations: all good ones of a file, in its order, found by the operator's name.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/schema_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"

static void append(cli_schema_list *list, const cli_parsed *parsed)
{
    if (list->count == list->room) {
        size_t room = list->room > 0 ? 2 * list->room : 64;
        cli_parsed *items = cli_allocate(room * sizeof *items);
        if (list->count > 0) {
            memcpy(items, list->items, list->count * sizeof *items);
        }
        free(list->items);
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = *parsed;
}

static void leave_out(cli_schema_list *list, cli_parsed *parsed, bool is_json)
{
    list->bad_count++;
    if (is_json) {
        cli_schema_print_object(parsed);
    } else {
        cli_parsed_tell(parsed);
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const cli_named *)a)->name, ((const cli_named *)b)->name);
}

static int by_name_and_line(const void *a, const void *b)
{
    int order = by_name(a, b);
    return order != 0                                                        ? order
           : ((const cli_named *)a)->parsed < ((const cli_named *)b)->parsed ? -1
                                                                             : 1;
}

static void sort(cli_schema_list *list)
{
    free(list->sorted);
    list->sorted = cli_allocate(list->count * sizeof *list->sorted);
    for (size_t i = 0; i < list->count; i++) {
        list->sorted[i] = (cli_named){kw_schema_name(list->items[i].schema), &list->items[i]};
    }
    qsort(list->sorted, list->count, sizeof *list->sorted, by_name_and_line);
}

// Turns the second and further declarations of a name into bad ones.
static void refuse_repeated(cli_schema_list *list)
{
    const cli_parsed *first = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const cli_named *named = &list->sorted[i];
        if (i == 0 || strcmp(named[-1].name, named->name) != 0) {
            first = named->parsed;
            continue;
        }
        cli_parsed *parsed = &list->items[named->parsed - list->items];
        (void)cli_fail(&parsed->err, KW_ALREADY_DEFINED,
                       "`%s` is declared before, in line %" PRIu32, named->name, first->start.line);
    }
}

// Leaves out what is marked as bad, and keeps the order.
static void compact(cli_schema_list *list, bool is_json)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        cli_parsed *parsed = &list->items[i];
        if (parsed->err.status == KW_OK) {
            list->items[kept++] = *parsed;
        } else {
            cli_parsed_fini(parsed);
            leave_out(list, parsed, is_json);
        }
    }
    list->count = kept;
}

bool cli_schema_list_read(cli_schema_list *list, const char *path, bool is_json)
{
    cli_schema_reader *reader = cli_schema_reader_open(path);
    if (reader == NULL) {
        return false;
    }
    for (cli_parsed parsed; cli_parsed_next(reader, &parsed);) {
        if (parsed.schema != NULL) {
            append(list, &parsed);
        } else {
            leave_out(list, &parsed, is_json);
        }
    }
    bool has_failed = cli_schema_reader_has_failed(reader);
    cli_schema_reader_close(reader);
    sort(list);
    refuse_repeated(list);
    compact(list, is_json);
    sort(list);
    return !has_failed;
}

void cli_schema_list_fini(cli_schema_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        cli_parsed_fini(&list->items[i]);
    }
    free(list->items);
    free(list->sorted);
}

const cli_parsed *cli_schema_list_find(const cli_schema_list *list, const cli_parsed *wanted)
{
    const cli_named key = {.name = kw_schema_name(wanted->schema)};
    const cli_named *found =
        bsearch(&key, list->sorted, list->count, sizeof *list->sorted, by_name);
    return found != NULL ? found->parsed : NULL;
}
