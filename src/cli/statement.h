// Statements: the forms of a scenario's lines, and how a line is taken apart.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_STATEMENT_H
#define KWI_CLI_STATEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/status.h>

#define CLI_WORDS_MAX 4

typedef enum cli_verb {
    CLI_BARE,
    CLI_LIBRARY,
    CLI_DEFINE,
    CLI_IMPL,
    CLI_FALLBACK,
    CLI_REMOVE,
    CLI_CLOSE,
    CLI_BEGIN,
    CLI_COMMIT,
    CLI_ABORT,
    CLI_INCLUDE,
    CLI_EXCLUDE,
    CLI_RESET,
    CLI_CALL,
    CLI_REDISPATCH,
    CLI_TABLE,
    CLI_STATE
} cli_verb;

// One line, taken apart. Borrows the line's text.
typedef struct cli_statement {
    cli_verb verb;
    uint32_t line;
    const char *name;                 // of the verb; the first word of a line that is no statement
    unsigned word_count;              // behind the verb
    const char *words[CLI_WORDS_MAX]; // NULL beyond the count
    const char *rest;                 // what follows them, where the form has a rest; else ""
} cli_statement;

// Takes a line apart, in place. CLI_SYNTAX if it has no form of a statement; then the text says
// which form it should have. `*out_is_empty` tells a line of blanks and comment.
KW_NODISCARD kw_status cli_statement_parse(char *text, uint32_t line, cli_statement *out_statement,
                                           bool *out_is_empty, kw_error *err);

#endif // KWI_CLI_STATEMENT_H
