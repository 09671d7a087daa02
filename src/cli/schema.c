// `keyway schema`: checks and prints the declarations of a file.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"

bool cli_parsed_next(cli_schema_reader *reader, cli_parsed *parsed)
{
    cli_declaration declaration;
    if (!cli_schema_reader_next(reader, &declaration)) {
        return false;
    }
    *parsed = (cli_parsed){.file = cli_schema_reader_name(reader),
                           .start = declaration.start,
                           .err = KW_ERROR_INIT,
                           .wrong = declaration.start};
    kw_status status =
        kw_schema_parse_bytes(declaration.text, declaration.length, &parsed->schema, &parsed->err);
    if (status != KW_OK && parsed->err.position != KW_NO_POSITION) {
        parsed->wrong = cli_declaration_place(&declaration, parsed->err.position);
    }
    return true;
}

void cli_parsed_fini(cli_parsed *parsed)
{
    kw_schema_destroy(parsed->schema);
    parsed->schema = NULL;
}

void cli_parsed_tell(const cli_parsed *parsed)
{
    (void)fprintf(stderr, "%s:%" PRIu32 ":%" PRIu32 ": error %s: %s\n", parsed->file,
                  parsed->wrong.line, parsed->wrong.column, cli_status_name(parsed->err.status),
                  parsed->err.text);
}

char *cli_schema_text(const kw_schema *schema)
{
    size_t length = kw_schema_format(schema, NULL, 0);
    char *text = cli_allocate(length + 1);
    (void)kw_schema_format(schema, text, length + 1);
    return text;
}

// What a subcommand does with each declaration, in lines.
typedef void print_function(const cli_parsed *parsed);

static void print_nothing(const cli_parsed *parsed)
{
    (void)parsed;
}

static void print_text(const cli_parsed *parsed)
{
    char *text = cli_schema_text(parsed->schema);
    (void)puts(text);
    free(text);
}

typedef struct counts {
    uint64_t good;
    uint64_t bad;
} counts;

static void print_declaration(const cli_parsed *parsed, const cli_options *options,
                              print_function *print)
{
    if (options->is_json) {
        cli_schema_print_object(parsed);
    } else if (parsed->schema != NULL) {
        print(parsed);
    } else {
        cli_parsed_tell(parsed);
    }
}

// Prints every declaration and counts; returns the exit status.
static int print_all(const cli_options *options, print_function *print, counts *count)
{
    cli_schema_reader *reader = cli_schema_reader_open(options->operand);
    if (reader == NULL) {
        return CLI_UNUSABLE;
    }
    for (cli_parsed parsed; cli_parsed_next(reader, &parsed); cli_parsed_fini(&parsed)) {
        *(parsed.schema != NULL ? &count->good : &count->bad) += 1;
        print_declaration(&parsed, options, print);
    }
    int status = cli_schema_reader_has_failed(reader) ? CLI_UNUSABLE
                 : count->bad > 0                     ? CLI_FAILURE
                                                      : CLI_SUCCESS;
    cli_schema_reader_close(reader);
    return status;
}

static int check(const cli_options *options)
{
    counts count = {0, 0};
    int status = print_all(options, print_nothing, &count);
    if (status != CLI_UNUSABLE && !options->is_json) {
        (void)printf("%" PRIu64 " good, %" PRIu64 " bad\n", count.good, count.bad);
    }
    return status;
}

static int print(const cli_options *options)
{
    counts count = {0, 0};
    return print_all(options, print_text, &count);
}

typedef struct subcommand {
    const char *name;
    const char *full_name; // for texts
    int (*run)(const cli_options *options);
} subcommand;

static const subcommand subcommands[] = {
    {"check", "schema check", check},
    {"print", "schema print", print},
    {"diff", CLI_SCHEMA_DIFF, cli_schema_diff},
};

int cli_schema_command(int argc, char **argv)
{
    const char *name = argc > 0 ? argv[0] : "";
    for (size_t i = 0; i < sizeof subcommands / sizeof subcommands[0]; i++) {
        if (strcmp(name, subcommands[i].name) == 0) {
            cli_options options;
            return cli_options_read(&options, subcommands[i].full_name, argc - 1, argv + 1)
                       ? subcommands[i].run(&options)
                       : CLI_UNUSABLE;
        }
    }
    if (argc > 0) {
        (void)fprintf(stderr, "keyway schema: found `%s` instead of ", name);
    } else {
        (void)fputs("keyway schema: missing is ", stderr);
    }
    (void)fputs("one of `check`, `print` and `diff`; try `keyway help`\n", stderr);
    return CLI_UNUSABLE;
}
