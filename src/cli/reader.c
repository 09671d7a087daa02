// Lines of a scenario file, of bounded length.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"

static void tell(const char *path)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the program has one thread
    (void)fprintf(stderr, "keyway: cannot read %s: %s\n", path, strerror(errno));
}

cli_reader *cli_reader_open(const char *path)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    if (file == NULL) {
        tell(path);
        return NULL;
    }
    cli_reader *reader = cli_allocate(sizeof *reader);
    reader->file = file;
    reader->name = is_stdin ? "<stdin>" : path;
    return reader;
}

void cli_reader_close(cli_reader *reader)
{
    if (reader != NULL) {
        if (reader->file != stdin) {
            (void)fclose(reader->file);
        }
        free(reader);
    }
}

bool cli_reader_next(cli_reader *reader)
{
    size_t length = 0; // of the line; only so much of it is kept as fits
    bool has_nul = false;
    int byte = getc(reader->file);
    if (byte == EOF) {
        return false;
    }
    for (; byte != EOF && byte != '\n'; byte = getc(reader->file)) {
        has_nul = has_nul || byte == '\0';
        if (length < CLI_LINE_MAX + 1) {
            reader->text[length] = (char)byte;
        }
        length++;
    }
    if (length > 0 && length <= CLI_LINE_MAX + 1 && reader->text[length - 1] == '\r') {
        length--;
    }
    reader->line++;
    reader->problem = length > CLI_LINE_MAX ? "the line is longer than 65536 bytes"
                      : has_nul             ? "the line holds a NUL byte"
                                            : NULL;
    reader->text[length <= CLI_LINE_MAX ? length : CLI_LINE_MAX] = '\0';
    return true;
}

bool cli_reader_has_failed(const cli_reader *reader)
{
    if (ferror(reader->file)) {
        tell(reader->name);
        return true;
    }
    return false;
}
