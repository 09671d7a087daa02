// JSON: objects of one line, with members in the order they are added.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_JSON_H
#define KWI_CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// An object on standard output. One that is open must be closed before the next.
typedef struct cli_json {
    bool needs_comma;
} cli_json;

// Begin an object, and end it with its line.
cli_json cli_json_open(void);
void cli_json_close(cli_json *json);

// Add a member. A string that is NULL is written as null; bytes that are no UTF-8 as U+FFFD.
void cli_json_string(cli_json *json, const char *name, const char *text);
void cli_json_text(cli_json *json, const char *name, const char *text, size_t length);
void cli_json_number(cli_json *json, const char *name, int64_t number);
void cli_json_bool(cli_json *json, const char *name, bool value);
void cli_json_null(cli_json *json, const char *name);

// Add a list of strings: open, items, close.
void cli_json_list_open(cli_json *json, const char *name);
void cli_json_item(cli_json *json, const char *text, size_t length);
void cli_json_list_close(cli_json *json);

// Add an object to a list: open, members, close.
void cli_json_object_open(cli_json *json);
void cli_json_object_close(cli_json *json);

#endif // KWI_CLI_JSON_H
