// Declarations of operators from a file: plain lines, or the `func:` lines of a YAML file.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/schema_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"
#include "cli/schema_scan.h"

typedef enum format {
    FORMAT_UNKNOWN, // no line has told it yet
    FORMAT_PLAIN,
    FORMAT_YAML
} format;

struct cli_schema_reader {
    FILE *file;
    const char *name;
    format format;
    // The line read last. It is `held` while nobody has used it.
    bool is_held;
    bool is_cut; // it is longer than what is kept
    uint32_t line;
    size_t line_length;
    char line_text[CLI_DECLARATION_MAX];
    // The declaration.
    size_t length;
    char text[CLI_DECLARATION_MAX];
};

static void tell(const char *name)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the program has one thread
    (void)fprintf(stderr, "keyway: cannot read %s: %s\n", name, strerror(errno));
}

cli_schema_reader *cli_schema_reader_wrap(FILE *file, const char *name)
{
    cli_schema_reader *reader = cli_allocate(sizeof *reader);
    reader->file = file;
    reader->name = name;
    return reader;
}

cli_schema_reader *cli_schema_reader_open(const char *path)
{
    if (path == NULL || strcmp(path, "-") == 0) {
        return cli_schema_reader_wrap(stdin, "<stdin>");
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        tell(path);
        return NULL;
    }
    return cli_schema_reader_wrap(file, path);
}

void cli_schema_reader_close(cli_schema_reader *reader)
{
    if (reader != NULL) {
        if (reader->file != stdin) {
            (void)fclose(reader->file);
        }
        free(reader);
    }
}

const char *cli_schema_reader_name(const cli_schema_reader *reader)
{
    return reader->name;
}

bool cli_schema_reader_has_failed(const cli_schema_reader *reader)
{
    if (ferror(reader->file)) {
        tell(reader->name);
        return true;
    }
    return false;
}

// Makes a line the held one; false at the end of the file. Its end is LF or CR LF.
static bool hold_line(cli_schema_reader *reader)
{
    if (reader->is_held) {
        return true;
    }
    int byte = getc(reader->file);
    if (byte == EOF) {
        return false;
    }
    reader->line_length = 0;
    reader->is_cut = false;
    for (; byte != EOF && byte != '\n'; byte = getc(reader->file)) {
        if (reader->line_length < sizeof reader->line_text) {
            reader->line_text[reader->line_length++] = (char)byte;
        } else {
            reader->is_cut = true;
        }
    }
    if (!reader->is_cut && reader->line_length > 0 &&
        reader->line_text[reader->line_length - 1] == '\r') {
        reader->line_length--;
    }
    reader->line++;
    reader->is_held = true;
    return true;
}

// A line that is cut may hold more than the blanks that are kept of it.
static bool is_empty(const cli_schema_reader *reader)
{
    return cli_line_is_empty(reader->line_text, reader->line_length) &&
           !(reader->is_cut && memchr(reader->line_text, '#', reader->line_length) == NULL);
}

// Whether the held line belongs to the declaration before it, which is open.
static bool continues(const cli_schema_reader *reader, const cli_scan *scan)
{
    const char *line = reader->line_text;
    if (scan->quote != '\0') {
        return true;
    }
    if (cli_line_func(line, reader->line_length) > 0) {
        return false;
    }
    return reader->format == FORMAT_YAML ? !cli_line_is_key(line, reader->line_length)
                                         : !cli_line_declares(line, reader->line_length);
}

static void append(cli_schema_reader *reader, const char *text, size_t length)
{
    size_t room = sizeof reader->text - reader->length;
    size_t step = length < room ? length : room;
    memcpy(reader->text + reader->length, text, step);
    reader->length += step;
}

// Appends the lines that follow while something is open.
static void append_rest(cli_schema_reader *reader, cli_scan *scan)
{
    while (cli_scan_is_open(scan) && hold_line(reader) && continues(reader, scan)) {
        append(reader, "\n", 1);
        if (scan->quote != '\0' || !is_empty(reader)) {
            append(reader, reader->line_text, reader->line_length);
            cli_scan_line(scan, reader->line_text, reader->line_length);
        }
        reader->is_held = false;
    }
}

// The length in the file of what one byte of a quoted value is: '' stands for ', \" and \\ for the
// byte behind the backslash. 0: an escape that is not read here.
static size_t escape_length(char quote, const char *text, size_t left)
{
    char escape = quote == '"' ? '\\' : quote;
    if (text[0] != escape) {
        return 1;
    }
    bool is_known = left >= 2 && (text[1] == quote || text[1] == escape);
    return is_known ? 2 : 0;
}

// Unquotes a value that is in quotes as a whole, but for a comment; else leaves all as it is.
static void append_value(cli_schema_reader *reader, const char *value, size_t length, char *quote)
{
    bool is_quoted = length > 0 && (value[0] == '"' || value[0] == '\'');
    size_t at = 1;
    while (is_quoted && at < length) {
        bool is_end = value[at] == value[0] &&
                      (value[0] == '"' || at + 1 == length || value[at + 1] != value[0]);
        size_t step = is_end ? 0 : escape_length(value[0], value + at, length - at);
        if (step == 0) {
            break;
        }
        append(reader, value + at + step - 1, 1);
        at += step;
    }
    if (is_quoted && at < length && value[at] == value[0] &&
        cli_line_is_empty(value + at + 1, length - at - 1)) {
        *quote = value[0];
        return;
    }
    reader->length = 0;
    append(reader, value, length);
}

// Reads the declaration that begins at `offset` of the held line.
static void read_declaration(cli_schema_reader *reader, size_t offset, bool is_func,
                             cli_declaration *declaration)
{
    const char *value = reader->line_text + offset;
    size_t length = reader->line_length - offset;
    *declaration =
        (cli_declaration){.text = reader->text, .start = {reader->line, (uint32_t)offset + 1}};
    reader->length = 0;
    reader->is_held = false;
    cli_scan scan = {.depth = 0};
    if (is_func) {
        append_value(reader, value, length, &declaration->quote);
    } else {
        append(reader, value, length);
    }
    if (declaration->quote == '\0') {
        cli_scan_line(&scan, value, length);
        append_rest(reader, &scan);
    }
    declaration->length = reader->length;
}

// The offset of the first byte that is no blank; 0 if nothing else is kept of the line.
static size_t indent(const cli_schema_reader *reader)
{
    size_t at = 0;
    while (at < reader->line_length && reader->line_text[at] != '\0' &&
           strchr(" \t\r\v\f", reader->line_text[at]) != NULL) {
        at++;
    }
    return at < reader->line_length ? at : 0;
}

// The three bytes that some editors put before UTF-8.
static void skip_mark(cli_schema_reader *reader)
{
    if (reader->line == 1 && reader->line_length >= 3 &&
        memcmp(reader->line_text, "\xef\xbb\xbf", 3) == 0) {
        memcpy(reader->line_text, "   ", 3);
    }
}

bool cli_schema_reader_next(cli_schema_reader *reader, cli_declaration *declaration)
{
    for (; hold_line(reader); reader->is_held = false) {
        skip_mark(reader);
        if (is_empty(reader)) {
            continue;
        }
        size_t offset = indent(reader);
        if (reader->format == FORMAT_UNKNOWN) {
            reader->format = reader->line_text[offset] == '-' ? FORMAT_YAML : FORMAT_PLAIN;
        }
        size_t value = cli_line_func(reader->line_text, reader->line_length);
        if (value > 0 || reader->format == FORMAT_PLAIN) {
            read_declaration(reader, value > 0 ? value : offset, value > 0, declaration);
            return true;
        }
    }
    return false;
}

cli_place cli_declaration_place(const cli_declaration *declaration, size_t offset)
{
    cli_place place = declaration->start;
    for (size_t i = 0; i < offset && i < declaration->length; i++) {
        char c = declaration->text[i];
        place.column++;
        if (c == '\n') {
            place.line++;
            place.column = 1;
        } else if (declaration->quote != '\0' &&
                   (c == declaration->quote || (c == '\\' && declaration->quote == '"'))) {
            place.column++; // it is escaped in the file
        }
    }
    if (declaration->quote != '\0') {
        place.column++; // the opening quote
    }
    return place;
}
