// Lines of declarations: what decides where one begins and ends.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_SCHEMA_SCAN_H
#define KWI_CLI_SCHEMA_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What is open behind the bytes scanned so far.
typedef struct cli_scan {
    uint32_t depth; // parentheses and brackets
    char quote;     // of a string; 0: none
    bool is_triple; // its quotes are three
} cli_scan;

// Scans one line, without its end.
void cli_scan_line(cli_scan *scan, const char *line, size_t length);

// Whether the declaration goes on in the next line.
bool cli_scan_is_open(const cli_scan *scan);

// Whether a line is blank or holds only a comment.
bool cli_line_is_empty(const char *line, size_t length);

// Whether a line looks like "name(...) ->", which no line inside parentheses does: a declaration
// that is open before it lacks its end.
bool cli_line_declares(const char *line, size_t length);

// Whether a line is a YAML key, such as "  variants: method".
bool cli_line_is_key(const char *line, size_t length);

// The offset of what follows "- func:", its blanks skipped; 0 if the line is none.
size_t cli_line_func(const char *line, size_t length);

#endif // KWI_CLI_SCHEMA_SCAN_H
