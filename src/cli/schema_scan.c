// Lines of declarations: what decides where one begins and ends.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/schema_scan.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t skip_blanks(const char *line, size_t length, size_t at)
{
    while (at < length && is_blank(line[at])) {
        at++;
    }
    return at;
}

static bool stands_at(const char *line, size_t length, size_t at, const char *word)
{
    size_t word_length = strlen(word);
    return length - at >= word_length && memcmp(line + at, word, word_length) == 0;
}

// Whether three of the quote stand at `at`.
static bool is_tripled(const char *line, size_t length, size_t at)
{
    return length - at >= 3 && line[at + 1] == line[at] && line[at + 2] == line[at];
}

// Steps over one byte of a string, an escape, or the closing quotes.
static size_t scan_string(cli_scan *scan, const char *line, size_t length, size_t at)
{
    if (line[at] == '\\') {
        return at + 2;
    }
    if (line[at] != scan->quote || (scan->is_triple && !is_tripled(line, length, at))) {
        return at + 1;
    }
    scan->quote = '\0';
    return at + (scan->is_triple ? 3 : 1);
}

// Steps over what stands at `at`; over the rest of the line if it is a comment.
static size_t scan_mark(cli_scan *scan, const char *line, size_t length, size_t at)
{
    switch (line[at]) {
    case '#':
        return length;
    case '(':
    case '[':
        scan->depth++;
        return at + 1;
    case ')':
    case ']':
        scan->depth -= scan->depth > 0 ? 1 : 0;
        return at + 1;
    case '"':
    case '\'':
        scan->quote = line[at];
        scan->is_triple = is_tripled(line, length, at);
        return at + (scan->is_triple ? 3 : 1);
    default:
        return at + 1;
    }
}

static size_t scan_next(cli_scan *scan, const char *line, size_t length, size_t at)
{
    return scan->quote != '\0' ? scan_string(scan, line, length, at)
                               : scan_mark(scan, line, length, at);
}

void cli_scan_line(cli_scan *scan, const char *line, size_t length)
{
    for (size_t at = 0; at < length;) {
        at = scan_next(scan, line, length, at);
    }
    if (!scan->is_triple) {
        scan->quote = '\0'; // a string of one line ends with it, closed or not
    }
}

bool cli_scan_is_open(const cli_scan *scan)
{
    return scan->depth > 0 || scan->quote != '\0';
}

bool cli_line_is_empty(const char *line, size_t length)
{
    size_t at = skip_blanks(line, length, 0);
    return at == length || line[at] == '#';
}

bool cli_line_declares(const char *line, size_t length)
{
    size_t at = skip_blanks(line, length, 0);
    size_t start = at;
    while (at < length &&
           (is_name_letter(line[at]) || is_blank(line[at]) || line[at] == ':' || line[at] == '.')) {
        at++;
    }
    if (at == start || at == length || line[at] != '(') {
        return false;
    }
    cli_scan scan = {.depth = 0};
    do {
        at = scan_next(&scan, line, length, at);
    } while (at < length && cli_scan_is_open(&scan));
    if (at >= length) {
        return false;
    }
    return stands_at(line, length, skip_blanks(line, length, at), "->");
}

bool cli_line_is_key(const char *line, size_t length)
{
    size_t start = skip_blanks(line, length, 0);
    size_t at = start;
    while (at < length && is_name_letter(line[at])) {
        at++;
    }
    return at > start && at < length && line[at] == ':' &&
           (at + 1 == length || is_blank(line[at + 1]));
}

size_t cli_line_func(const char *line, size_t length)
{
    static const char key[] = "func:";
    size_t at = skip_blanks(line, length, 0);
    if (at == length || line[at] != '-') {
        return 0;
    }
    at = skip_blanks(line, length, at + 1);
    if (!stands_at(line, length, at, key)) {
        return 0;
    }
    return skip_blanks(line, length, at + sizeof key - 1);
}
