// Lines of a scenario file, of bounded length.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_READER_H
#define KWI_CLI_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// The longest line, without its end: 64 KiB.
#define CLI_LINE_MAX 65536

typedef struct cli_reader {
    FILE *file;
    const char *name;            // for texts and provenance
    uint32_t line;               // of the line read last, from 1
    const char *problem;         // why that line cannot be a statement; NULL if it may be one
    char text[CLI_LINE_MAX + 2]; // without its end, LF or CR LF. Room for the CR and a zero
} cli_reader;

// Opens a file, or standard input for "-"; says what is wrong on standard error and returns NULL.
// cli_reader_close() ends it.
cli_reader *cli_reader_open(const char *path);
void cli_reader_close(cli_reader *reader);

// Reads the next line; false at the end. A last line needs no end.
bool cli_reader_next(cli_reader *reader);

// Whether the end came from a failure to read, which is then told on standard error.
bool cli_reader_has_failed(const cli_reader *reader);

#endif // KWI_CLI_READER_H
