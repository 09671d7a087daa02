// JSON: objects of one line, with members in the order they are added.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// The bytes of the UTF-8 sequence at `text`; 0 if it is none (RFC 3629, table of section 4).
static size_t sequence_length(const unsigned char *text, size_t left)
{
    unsigned char first = text[0];
    size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length == 0 || first > 0xf4 || length > left) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool is_overlong = (first == 0xe0 && text[1] < 0xa0) || (first == 0xf0 && text[1] < 0x90);
    bool is_surrogate = first == 0xed && text[1] > 0x9f;
    bool is_too_large = first == 0xf4 && text[1] > 0x8f;
    return is_overlong || is_surrogate || is_too_large ? 0 : length;
}

static void write_text(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    (void)putchar('"');
    for (size_t i = 0; i < length;) {
        size_t step = sequence_length(bytes + i, length - i);
        if (step == 0) {
            (void)fputs("\\ufffd", stdout);
            step = 1;
        } else if (bytes[i] == '"' || bytes[i] == '\\') {
            (void)printf("\\%c", bytes[i]);
        } else if (bytes[i] < 0x20 || bytes[i] == 0x7f) {
            (void)printf("\\u%04x", bytes[i]);
        } else {
            (void)fwrite(bytes + i, 1, step, stdout);
        }
        i += step;
    }
    (void)putchar('"');
}

static void write_comma(cli_json *json)
{
    if (json->needs_comma) {
        (void)putchar(',');
    }
    json->needs_comma = true;
}

// Writes the name of a member. Names are ours, so they need no escapes.
static void write_name(cli_json *json, const char *name)
{
    write_comma(json);
    (void)printf("\"%s\":", name);
}

cli_json cli_json_open(void)
{
    (void)putchar('{');
    return (cli_json){.needs_comma = false};
}

void cli_json_close(cli_json *json)
{
    json->needs_comma = false;
    (void)puts("}");
}

void cli_json_string(cli_json *json, const char *name, const char *text)
{
    if (text == NULL) {
        cli_json_null(json, name);
        return;
    }
    cli_json_text(json, name, text, strlen(text));
}

void cli_json_text(cli_json *json, const char *name, const char *text, size_t length)
{
    write_name(json, name);
    write_text(text, length);
}

void cli_json_number(cli_json *json, const char *name, int64_t number)
{
    write_name(json, name);
    (void)printf("%" PRId64, number);
}

void cli_json_bool(cli_json *json, const char *name, bool value)
{
    write_name(json, name);
    (void)fputs(value ? "true" : "false", stdout);
}

void cli_json_null(cli_json *json, const char *name)
{
    write_name(json, name);
    (void)fputs("null", stdout);
}

void cli_json_list_open(cli_json *json, const char *name)
{
    write_name(json, name);
    (void)putchar('[');
    json->needs_comma = false;
}

void cli_json_item(cli_json *json, const char *text, size_t length)
{
    write_comma(json);
    write_text(text, length);
}

void cli_json_list_close(cli_json *json)
{
    (void)putchar(']');
    json->needs_comma = true;
}

void cli_json_object_open(cli_json *json)
{
    write_comma(json);
    (void)putchar('{');
    json->needs_comma = false;
}

void cli_json_object_close(cli_json *json)
{
    (void)putchar('}');
    json->needs_comma = true;
}
