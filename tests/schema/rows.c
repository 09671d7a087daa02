// Rows of valid.txt and malformed.txt: a declaration, and indented below it what is expected.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "schema/rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define INDENT "    "
#define INDENT_LENGTH 4

typedef struct line_reader {
    FILE *file;
    char *held; // read, not used
    unsigned number;
} line_reader;

static line_reader reader;

static const char *hold_line(FILE *file)
{
    if (reader.file != file) {
        reader = (line_reader){.file = file};
    }
    if (reader.held == NULL) {
        size_t size = 0;
        ssize_t length = getline(&reader.held, &size, file);
        if (length < 0) {
            free(reader.held);
            reader = (line_reader){.file = NULL};
            return NULL;
        }
        reader.held[strcspn(reader.held, "\n")] = '\0';
        reader.number++;
    }
    return reader.held;
}

static char *take_line(void)
{
    char *line = reader.held;
    reader.held = NULL;
    return line;
}

static void append(schema_row *row, const char *bytes, size_t length)
{
    if (row->length + length + 1 > row->room) {
        row->room = 2 * (row->length + length + 1);
        row->text = realloc(row->text, row->room);
    }
    if (row->text == NULL) {
        abort();
    }
    memcpy(row->text + row->length, bytes, length);
    row->length += length;
    row->text[row->length] = '\0';
}

typedef struct named_byte {
    const char *name;
    const char *bytes;
    size_t length;
} named_byte;

static const named_byte named_bytes[] = {
    {"LF", "\n", 1}, {"CR", "\r", 1}, {"TAB", "\t", 1}, {"NUL", "\0", 1}, {"EMPTY", "", 0},
};

static bool append_named(schema_row *row, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof named_bytes / sizeof named_bytes[0]; i++) {
        const named_byte *known = &named_bytes[i];
        if (strlen(known->name) == length && memcmp(known->name, name, length) == 0) {
            append(row, known->bytes, known->length);
            return true;
        }
    }
    return false;
}

static bool append_hexadecimal(schema_row *row, const char *name, size_t length)
{
    if (length != 3 || name[0] != 'x' || !isxdigit((unsigned char)name[1]) ||
        !isxdigit((unsigned char)name[2])) {
        return false;
    }
    char byte = (char)strtoul(name + 1, NULL, 16);
    append(row, &byte, 1);
    return true;
}

static size_t expand(schema_row *row, const char *text, size_t left);

// "64*text", where <#> in the text is the turn.
static bool append_repeated(schema_row *row, const char *name, size_t length)
{
    char *end = NULL;
    unsigned long count = isdigit((unsigned char)name[0]) ? strtoul(name, &end, 10) : 0;
    if (end == NULL || *end != '*' || (size_t)(end - name) >= length) {
        return false;
    }
    const char *text = end + 1;
    size_t text_length = length - (size_t)(text - name);
    for (unsigned long turn = 0; turn < count; turn++) {
        for (size_t at = 0; at < text_length;) {
            if (text_length - at >= 3 && memcmp(text + at, "<#>", 3) == 0) {
                char number[24];
                append(row, number, (size_t)snprintf(number, sizeof number, "%lu", turn));
                at += 3;
            } else {
                at += expand(row, text + at, text_length - at);
            }
        }
    }
    return true;
}

// The ">" that ends the escape at `text`, which is "<"; NULL if there is none.
static const char *escape_end(const char *text, size_t left)
{
    unsigned depth = 0;
    for (size_t i = 0; i < left; i++) {
        depth += text[i] == '<' ? 1 : 0;
        depth -= text[i] == '>' ? 1 : 0;
        if (depth == 0) {
            return text + i;
        }
    }
    return NULL;
}

// Appends what stands at `text`, a byte or an escape, and returns its length there.
static size_t expand(schema_row *row, const char *text,
                     size_t left) // NOLINT(misc-no-recursion): nests
{
    const char *end = text[0] == '<' ? escape_end(text, left) : NULL;
    if (end != NULL) {
        const char *name = text + 1;
        size_t length = (size_t)(end - name);
        if (append_named(row, name, length) || append_hexadecimal(row, name, length) ||
            append_repeated(row, name, length)) {
            return length + 2;
        }
    }
    append(row, text, 1);
    return 1;
}

static void read_text(schema_row *row, const char *line, bool marks)
{
    size_t length = strlen(line);
    row->mark = ROW_NOT_MARKED;
    append(row, "", 0);
    for (size_t at = 0; at < length;) {
        if (marks && line[at] == '^') {
            row->mark = row->length;
            at++;
        } else {
            at += expand(row, line + at, length - at);
        }
    }
}

bool row_next(FILE *file, const char *name, bool marks, schema_row *out_row)
{
    const char *line = hold_line(file);
    while (line != NULL && (line[0] == '\0' || line[0] == '#')) {
        free(take_line());
        line = hold_line(file);
    }
    if (line == NULL) {
        return false;
    }
    if (strncmp(line, " ", 1) == 0) {
        fprintf(stderr, "%s:%u: an indented line without a declaration\n", name, reader.number);
        exit(2);
    }
    *out_row = (schema_row){.file = name, .line = reader.number};
    read_text(out_row, line, marks);
    free(take_line());
    line = hold_line(file);
    if (line != NULL && strncmp(line, INDENT, INDENT_LENGTH) == 0) {
        out_row->expected = strdup(line + INDENT_LENGTH);
        free(take_line());
    }
    return true;
}

void row_fini(schema_row *row)
{
    free(row->text);
    free(row->expected);
}
