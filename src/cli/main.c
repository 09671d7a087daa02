// The program `keyway`: finds the command and runs it.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static const char help[] =
    "usage: keyway COMMAND\n"
    "\n"
    "  keys [--json]            list every dispatch key: name, number, bit, backend bit, slot,\n"
    "                           kind, and the aliases that cover it\n"
    "  keyset [--json] EXPR     evaluate a set of keys and print its bits, backends, members,\n"
    "                           highest key and slot\n"
    "  explain [--json] [--keep-going] FILE|-\n"
    "                           run a scenario of registrations and calls and print which kernel\n"
    "                           runs, and by which rule\n"
    "  schema check|print [--json] [FILE|-]\n"
    "                           check declarations of operators, or print their canonical form\n"
    "  schema diff [--json] FILE FILE\n"
    "                           compare two files of declarations, by the operators' names\n"
    "  schema diff [--json] [FILE|-]\n"
    "                           compare the first declaration with the second, and so on\n"
    "  gen OPS_FILE -o DIR [--name STEM] [--namespace NS] [--tensor-type TYPE]\n"
    "      [--tensor-keys FUNCTION] [--include HEADER]...\n"
    "                           make typed C functions, STEM.h and STEM.c, of declarations\n"
    "  plugin inspect [--json] FILE\n"
    "                           print what a plugin would register, without registering it\n"
    "  plugin try [--json] FILE [OPERATOR...]\n"
    "                           load a plugin, run its own tests, unload it, and look for leaks\n"
    "  help                     print this\n"
    "  --version                print the version\n"
    "\n"
    "EXPR is made of keys, FULL, FULL_AFTER(key), aliases (as the keys they cover) and 0x numbers\n"
    "with `|` or `,` (union), `&`, `^`, `-` and parentheses, evaluated from left to right. `-` is\n"
    "the dispatcher's difference: it takes functionalities away and keeps all backend bits.\n"
    "\n"
    "A scenario has one statement a line and `#` comments:\n"
    "\n"
    "  bare                              first statement only: no standard fallbacks\n"
    "  library NAME [NAMESPACE [KIND [KEY]]]\n"
    "                                    begin a library, or go back to it; KIND is FRAGMENT (if\n"
    "                                    not given), DEF, IMPL or FREE. Fallbacks need\n"
    "                                    `NAME _ IMPL` or FREE\n"
    "  define SCHEMA                     such as f(Tensor x) -> Tensor\n"
    "  impl OPERATOR [KEY] KERNEL        KERNEL is any name, or `fallthrough`; without KEY, or\n"
    "                                    with CatchAll, it is a catch-all\n"
    "  fallback [KEY] KERNEL\n"
    "  remove define OPERATOR | remove impl OPERATOR [KEY] KERNEL | remove fallback [KEY]\n"
    "  close NAME\n"
    "  begin, commit, abort              statements in between are one transaction\n"
    "  include KEYS, exclude KEYS, reset the thread's sets; KEYS is CPU,Tracer\n"
    "  call OPERATOR [KEYS]              call it with tensors that carry KEYS\n"
    "  redispatch OPERATOR [KEYS]        run the kernel of exactly this set\n"
    "  table OPERATOR [all]              the kernel and the rule of each slot\n"
    "  state OPERATOR                    its registrations, newest first\n"
    "\n"
    "Exit status: 0; 1 when a statement or an expression fails; 2 when the command line is wrong\n"
    "or a file cannot be read.\n";

typedef struct known_command {
    const char *name;
    int (*run)(int argc, char **argv);
} known_command;

static const known_command commands[] = {
    {"keys", cli_keys_command},       {"keyset", cli_keyset_command},
    {"explain", cli_explain_command}, {"schema", cli_schema_command},
    {"gen", cli_gen_command},         {"plugin", cli_plugin_command},
};

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

bool cli_options_read(cli_options *options, const char *command, int argc, char **argv)
{
    bool has_ended = false;
    *options = (cli_options){.is_json = false};
    for (int i = 0; i < argc; i++) {
        bool is_option = !has_ended && argv[i][0] == '-' && argv[i][1] != '\0';
        if (is_option && strcmp(argv[i], "--") == 0) {
            has_ended = true;
        } else if (is_option && strcmp(argv[i], "--json") == 0) {
            options->is_json = true;
        } else if (is_option && strcmp(argv[i], "--keep-going") == 0 &&
                   strcmp(command, "explain") == 0) {
            options->keeps_going = true;
        } else if (!is_option && options->operand != NULL && options->second == NULL &&
                   strcmp(command, CLI_SCHEMA_DIFF) == 0) {
            options->second = argv[i];
        } else if (is_option || options->operand != NULL) {
            (void)fprintf(stderr, "keyway %s: %s `%s`; try `keyway help`\n", command,
                          is_option ? "unknown option" : "one argument too many:", argv[i]);
            return false;
        } else {
            options->operand = argv[i];
        }
    }
    return true;
}

// Runs what the command line names. Output is not flushed yet.
static int run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (is_one_of(name, "help", "--help", "-h")) {
        (void)fputs(help, stdout);
        return CLI_SUCCESS;
    }
    if (is_one_of(name, "version", "--version", "-V")) {
        (void)puts("keyway " CLI_VERSION);
        return CLI_SUCCESS;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return commands[i].run(argc - 2, argv + 2);
        }
    }
    if (argc > 1) {
        (void)fprintf(stderr, "keyway: unknown command `%s`; try `keyway help`\n", name);
    } else {
        (void)fputs(help, stderr);
    }
    return CLI_UNUSABLE;
}

int main(int argc, char **argv)
{
    int status = run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        (void)fputs("keyway: standard output cannot be written\n", stderr);
        return CLI_UNUSABLE;
    }
    return status;
}
