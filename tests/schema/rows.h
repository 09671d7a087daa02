// Rows of valid.txt and malformed.txt: a declaration, and indented below it what is expected.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef SCHEMA_ROWS_H
#define SCHEMA_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ROW_NOT_MARKED SIZE_MAX

typedef struct schema_row {
    const char *file; // borrowed
    unsigned line;    // of the declaration
    char *text;       // escapes resolved, the mark taken out; may hold zeros
    size_t length;
    size_t room;
    size_t mark;    // offset of the byte behind "^", or ROW_NOT_MARKED
    char *expected; // the indented line without its indent; NULL if there is none
} schema_row;

// Reads the next row; false at the end. A file that is not of the form ends the program. `marks`
// says whether "^" is a mark.
bool row_next(FILE *file, const char *name, bool marks, schema_row *out_row);
void row_fini(schema_row *row);

#endif // SCHEMA_ROWS_H
