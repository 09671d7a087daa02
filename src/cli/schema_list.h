// Lists of declarations: all good ones of a file, in its order, found by the operator's name.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_SCHEMA_LIST_H
#define KWI_CLI_SCHEMA_LIST_H

#include "cli/schema.h"

typedef struct cli_named {
    const char *name; // of the operator
    const cli_parsed *parsed;
} cli_named;

// Zeroed before cli_schema_list_read().
typedef struct cli_schema_list {
    cli_parsed *items; // no two with the same name
    size_t count;
    size_t room;
    cli_named *sorted;  // by name
    uint64_t bad_count; // of declarations left out
} cli_schema_list;

// Reads a file. Bad declarations, second ones of a name among them, are told on standard error, or
// on standard output as objects, and left out. False if the file cannot be read.
bool cli_schema_list_read(cli_schema_list *list, const char *path, bool is_json);
void cli_schema_list_fini(cli_schema_list *list);

// The declaration of the same operator; NULL if there is none.
const cli_parsed *cli_schema_list_find(const cli_schema_list *list, const cli_parsed *wanted);

#endif // KWI_CLI_SCHEMA_LIST_H
