// Reading a file of operators: schemas, and the comments above them.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"
#include "cli/schema.h"
#include "cli/schema_reader.h"
#include "gen/unit.h"

void gen_unit_fini(gen_unit *unit)
{
    for (size_t i = 0; i < unit->op_count; i++) {
        gen_operator_fini(&unit->ops[i]);
    }
    free(unit->ops);
    gen_arena_fini(&unit->arena);
}

void gen_unit_fail(gen_unit *unit, uint32_t line, uint32_t column, const char *format, ...)
{
    (void)fprintf(stderr, "%s:%" PRIu32 ":%" PRIu32 ": error: ", unit->options.file, line, column);
    va_list args;
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputs("\n", stderr);
    unit->has_failed = true;
}

// The lines of the file, for the comments in it.
typedef struct line_table {
    gen_text text;
    size_t *starts; // of each line; one more for the end
    size_t count;
} line_table;

static bool read_lines(line_table *lines, const char *path, gen_arena *arena)
{
    FILE *file = fopen(path, "rb");
    char buffer[4096];
    size_t length = 0;
    while (file != NULL && (length = fread(buffer, 1, sizeof buffer, file)) > 0) {
        gen_add_bytes(&lines->text, buffer, length);
    }
    bool has_failed = file == NULL || ferror(file);
    if (has_failed) {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): the program has one thread
        (void)fprintf(stderr, "keyway: cannot read %s: %s\n", path, strerror(errno));
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    gen_add(&lines->text, "\n");
    size_t count = 0;
    for (size_t i = 0; i < lines->text.length; i++) {
        count += lines->text.data[i] == '\n' ? 1 : 0;
    }
    lines->starts = gen_allocate(arena, (count + 1) * sizeof *lines->starts);
    for (size_t i = 0; i < lines->text.length; i++) {
        if (lines->text.data[i] == '\n') {
            lines->starts[++lines->count] = i + 1;
        }
    }
    return !has_failed;
}

// Whether a line, numbered from 1, is a comment; and then what stands behind its "#" and a blank.
static bool comment_line(const line_table *lines, uint32_t number, kw_text_view *out_text)
{
    const char *line = lines->text.data + lines->starts[number - 1];
    size_t length = lines->starts[number] - lines->starts[number - 1] - 1;
    while (length > 0 && (line[0] == ' ' || line[0] == '\t')) {
        line++;
        length--;
    }
    if (length == 0 || line[0] != '#') {
        return false;
    }
    size_t skipped = length > 1 && line[1] == ' ' ? 2 : 1;
    *out_text = (kw_text_view){line + skipped, length - skipped};
    return true;
}

// The comment lines directly above a line. Bytes that a comment of C cannot hold become "?".
static const char *comment_above(const line_table *lines, uint32_t line, gen_arena *arena)
{
    gen_text comment = {.data = NULL};
    kw_text_view text = {"", 0};
    uint32_t first = line;
    while (first > 1 && comment_line(lines, first - 1, &text)) {
        first--;
    }
    for (uint32_t i = first; i < line && comment_line(lines, i, &text); i++) {
        while (text.length > 0 && strchr(" \t\r", text.data[text.length - 1]) != NULL) {
            text.length--;
        }
        gen_add_bytes(&comment, text.data, text.length);
        gen_add(&comment, "\n");
    }
    for (size_t i = 0; i < comment.length; i++) {
        char *c = &comment.data[i];
        *c = *c == '\t' ? ' ' : (unsigned char)*c < ' ' && *c != '\n' ? '?' : *c;
    }
    const char *copy = gen_copy(arena, comment.data, comment.length);
    gen_text_fini(&comment);
    return copy;
}

// Gives a schema without a namespace the one of the options; NULL, and told, if there is none.
static kw_schema *complete(gen_unit *unit, kw_schema *take_schema, cli_place place)
{
    if (kw_schema_namespace(take_schema).length > 0) {
        return take_schema;
    }
    char *text = cli_schema_text(take_schema);
    kw_schema *completed = NULL;
    kw_error err = KW_ERROR_INIT;
    if (unit->options.ns == NULL) {
        gen_unit_fail(unit, place.line, place.column,
                      "`%s` has no namespace; write one in front of its name, or give --namespace",
                      kw_schema_name(take_schema));
    } else {
        const char *whole = gen_format(&unit->arena, "%s::%s", unit->options.ns, text);
        if (kw_schema_parse(whole, &completed, &err) != KW_OK) {
            gen_unit_fail(unit, place.line, place.column, "%s", err.text);
        }
    }
    free(text);
    kw_schema_destroy(take_schema);
    return completed;
}

static gen_operator *next_operator(gen_unit *unit)
{
    if (unit->op_count == unit->op_capacity) {
        size_t capacity = 2 * unit->op_capacity + 16;
        gen_operator *ops = cli_allocate(capacity * sizeof *ops);
        if (unit->op_count > 0) {
            memcpy(ops, unit->ops, unit->op_count * sizeof *ops);
        }
        free(unit->ops);
        unit->ops = ops;
        unit->op_capacity = capacity;
    }
    return &unit->ops[unit->op_count++];
}

static void add_operator(gen_unit *unit, const line_table *lines, kw_schema *take_schema,
                         cli_place place)
{
    kw_schema *schema = complete(unit, take_schema, place);
    if (schema == NULL) {
        return;
    }
    const gen_taken taken = {unit->options.tensor_type, unit->options.tensor_keys};
    gen_operator *op = next_operator(unit);
    gen_operator_init(op, &unit->arena, schema, &taken);
    op->comment = comment_above(lines, place.line, &unit->arena);
    op->line = place.line;
    op->column = place.column;
}

bool gen_unit_read(gen_unit *unit)
{
    line_table lines = {.count = 0};
    bool is_read = read_lines(&lines, unit->options.file, &unit->arena);
    cli_schema_reader *reader = is_read ? cli_schema_reader_open(unit->options.file) : NULL;
    is_read = reader != NULL;
    for (cli_parsed parsed; is_read && cli_parsed_next(reader, &parsed);) {
        if (parsed.schema != NULL) {
            add_operator(unit, &lines, parsed.schema, parsed.start);
        } else {
            gen_unit_fail(unit, parsed.wrong.line, parsed.wrong.column, "%s", parsed.err.text);
        }
    }
    is_read = is_read && !cli_schema_reader_has_failed(reader);
    cli_schema_reader_close(reader);
    gen_text_fini(&lines.text);
    return is_read;
}
