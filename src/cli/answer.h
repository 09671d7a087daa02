// Answers: what the statements print that ask something, and how failures are told.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_ANSWER_H
#define KWI_CLI_ANSWER_H

#include <stdbool.h>

#include "cli/scene.h"
#include "cli/statement.h"

// How answers are written.
typedef struct cli_style {
    bool is_json;
    bool is_terminal; // groups and reasons; never together with JSON
    bool has_colour;  // on a terminal
} cli_style;

// `call` and `redispatch`. A call that fails is an answer too; other failures are returned.
KW_NODISCARD kw_status cli_answer_call(cli_scene *scene, const cli_style *style,
                                       const cli_statement *statement, kw_error *err);

// `table` and `state`.
KW_NODISCARD kw_status cli_answer_table(const cli_scene *scene, const cli_style *style,
                                        const cli_statement *statement, kw_error *err);
KW_NODISCARD kw_status cli_answer_state(const cli_scene *scene, const cli_style *style,
                                        const cli_statement *statement, kw_error *err);

// Colours; "" where the style has none.
typedef enum cli_colour {
    CLI_PLAIN,
    CLI_BOLD,
    CLI_FAINT,
    CLI_GOOD,
    CLI_BAD
} cli_colour;

const char *cli_colour_code(const cli_style *style, cli_colour colour);

#endif // KWI_CLI_ANSWER_H
