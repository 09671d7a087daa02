// `keyway schema`: what its parts share.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_SCHEMA_H
#define KWI_CLI_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/schema.h>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/schema_reader.h"

// A declaration that has been parsed, or the reason why it could not be. Ended by
// cli_parsed_fini().
typedef struct cli_parsed {
    const char *file;  // borrowed from the command line
    cli_place start;   // of the declaration
    kw_schema *schema; // NULL if it is bad
    kw_error err;      // if it is
    cli_place wrong;   // where, if it is; else `start`
} cli_parsed;

// Reads and parses the next declaration; false at the end.
bool cli_parsed_next(cli_schema_reader *reader, cli_parsed *parsed);
void cli_parsed_fini(cli_parsed *parsed);

// Says on standard error what is wrong with a bad declaration, and where.
void cli_parsed_tell(const cli_parsed *parsed);

// The canonical form of a schema, freed with free().
char *cli_schema_text(const kw_schema *schema);

// Prints the object of a declaration.
void cli_schema_print_object(const cli_parsed *parsed);

// `keyway schema diff`.
int cli_schema_diff(const cli_options *options);

#endif // KWI_CLI_SCHEMA_H
