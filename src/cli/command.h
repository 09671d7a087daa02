// Commands: what `keyway` can do, and the exit statuses that all of it shares.
//
// Layer:   cli (public headers only)
// Threads: one; the program starts no thread.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_COMMAND_H
#define KWI_CLI_COMMAND_H

#include <stdbool.h>

// Exit statuses.
enum {
    CLI_SUCCESS = 0,
    CLI_FAILURE = 1, // a statement or an expression failed
    CLI_UNUSABLE = 2 // the command line is wrong, or a file cannot be read or written
};

// Each runs with the arguments behind the command's name and returns the exit status.
int cli_keys_command(int argc, char **argv);
int cli_keyset_command(int argc, char **argv);
int cli_explain_command(int argc, char **argv);
int cli_schema_command(int argc, char **argv);
int cli_gen_command(int argc, char **argv); // in src/gen
int cli_plugin_command(int argc, char **argv);

// The one command that takes two operands.
#define CLI_SCHEMA_DIFF "schema diff"

// What a command line said. `operand` is NULL if there is none.
typedef struct cli_options {
    bool is_json;
    bool keeps_going;
    const char *operand;
    const char *second; // operand
} cli_options;

// Reads options and at most one operand, or two where the command takes them; says what is wrong on
// standard error and returns false. `command` names the command in that text.
bool cli_options_read(cli_options *options, const char *command, int argc, char **argv);

#endif // KWI_CLI_COMMAND_H
