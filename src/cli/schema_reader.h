// Declarations of operators from a file: plain lines, or the `func:` lines of a YAML file.
//
// In a plain file a declaration is a line, and goes on over further lines while its parentheses or
// brackets are open; blank lines and lines that begin with "#" in between are skipped. A file whose
// first line other than those begins with "-" is YAML, such as PyTorch's native_functions.yaml: of
// it only the values of "- func:" are read.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_SCHEMA_READER_H
#define KWI_CLI_SCHEMA_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// Of a line, and of a declaration, no more than this is kept: one byte more than the parser takes,
// so that it is the parser who says what is too long, and where.
#define CLI_DECLARATION_MAX 65537

typedef struct cli_place {
    uint32_t line;   // from 1
    uint32_t column; // in bytes, from 1
} cli_place;

// One declaration. Its bytes are as in the file, with LF between its lines; of a quoted YAML value
// they are what it stands for.
typedef struct cli_declaration {
    const char *text; // borrowed from the reader until the next is read; may hold zeros
    size_t length;
    cli_place start;
    char quote; // of a YAML value: a byte that takes two in the file; 0: none
} cli_declaration;

// Where a byte of the declaration stands in the file.
cli_place cli_declaration_place(const cli_declaration *declaration, size_t offset);

typedef struct cli_schema_reader cli_schema_reader;

// Opens a file, or standard input for "-" and NULL; says what is wrong on standard error and
// returns NULL. The second form takes a file that is open, and closes it. cli_schema_reader_close()
// ends it; NULL is allowed.
cli_schema_reader *cli_schema_reader_open(const char *path);
cli_schema_reader *cli_schema_reader_wrap(FILE *file, const char *name);
void cli_schema_reader_close(cli_schema_reader *reader);

// The name for texts.
const char *cli_schema_reader_name(const cli_schema_reader *reader);

// Reads the next declaration; false at the end.
bool cli_schema_reader_next(cli_schema_reader *reader, cli_declaration *declaration);

// Whether the end came from a failure to read, which is then told on standard error.
bool cli_schema_reader_has_failed(const cli_schema_reader *reader);

#endif // KWI_CLI_SCHEMA_READER_H
