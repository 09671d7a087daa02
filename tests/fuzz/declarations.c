// Fuzz target: the reader of `keyway schema`, which finds declarations in lines and in YAML.
//
// Declarations come in the order of the file, one byte at most over what the parser takes, and each
// of their bytes has a place in it.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "cli/schema_reader.h"
#include "fuzz/fuzz.h"

static size_t count_lines(const uint8_t *data, size_t size)
{
    size_t count = 1;
    for (size_t i = 0; i < size; i++) {
        count += data[i] == '\n' ? 1 : 0;
    }
    return count;
}

static void check_places(const cli_declaration *declaration, uint32_t *line, size_t line_count)
{
    FUZZ_CHECK(declaration->length <= CLI_DECLARATION_MAX, "%zu bytes", declaration->length);
    FUZZ_CHECK(declaration->start.line > *line, "line %u again", (unsigned)*line);
    FUZZ_CHECK(declaration->start.column > 0, "no column");
    cli_place before = {.line = declaration->start.line};
    for (size_t i = 0; i <= declaration->length && i < 64; i++) {
        cli_place place = cli_declaration_place(declaration, i);
        FUZZ_CHECK(place.line > before.line ||
                       (place.line == before.line && place.column > before.column),
                   "byte %zu stands before byte %zu", i, i - 1);
        before = place;
    }
    *line = cli_declaration_place(declaration, declaration->length).line;
    FUZZ_CHECK(*line <= line_count, "line %u of %zu", (unsigned)*line, line_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *file = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    if (file == NULL) {
        return 0;
    }
    cli_schema_reader *reader = cli_schema_reader_wrap(file, "input");
    uint32_t line = 0;
    for (cli_declaration declaration; cli_schema_reader_next(reader, &declaration);) {
        check_places(&declaration, &line, count_lines(data, size));
    }
    cli_schema_reader_close(reader);
    return 0;
}
