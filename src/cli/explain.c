// `keyway explain`: runs a scenario, statement by statement, on the real library.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <keyway/local.h>

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/json.h"
#include "cli/memory.h"
#include "cli/reader.h"
#include "cli/scene.h"
#include "cli/statement.h"

typedef struct explanation {
    cli_reader *reader;
    cli_style style;
    bool keeps_going;
    bool has_scene; // made by the first statement
    cli_scene scene;
    int exit_status;
} explanation;

const char *cli_colour_code(const cli_style *style, cli_colour colour)
{
    static const char *const codes[] = {
        [CLI_PLAIN] = "\033[0m", [CLI_BOLD] = "\033[1m", [CLI_FAINT] = "\033[2m",
        [CLI_GOOD] = "\033[32m", [CLI_BAD] = "\033[31m",
    };
    return style->has_colour ? codes[colour] : "";
}

// Statements --------------------------------------------------------------------------------------

static kw_status run_local(const cli_statement *statement, kw_error *err)
{
    kw_local_state state = kw_local_capture();
    kw_local_guard guard; // never restored: `reset` and the end set the defaults
    kw_keyset keys = kw_keyset_empty();
    if (statement->verb == CLI_RESET) {
        state = kw_local_default();
    } else {
        kw_status status = kw_keyset_parse(statement->rest, &keys, err);
        if (status != KW_OK) {
            return status;
        }
    }
    if (statement->verb == CLI_INCLUDE) {
        state.included = kw_keyset_union(state.included, keys);
    } else if (statement->verb == CLI_EXCLUDE) {
        state.excluded = kw_keyset_union(state.excluded, keys);
    }
    kw_status status = kw_local_force(state, &guard);
    return status == KW_OK ? KW_OK : cli_fail(err, status, "%s", kw_status_message(status));
}

// The optional key and the kernel behind it, in the words from `first` on.
static cli_place read_place(const cli_statement *statement, unsigned first)
{
    bool has_key = statement->word_count == first + 2;
    return (cli_place){.key = has_key ? statement->words[first] : NULL,
                       .kernel = statement->words[has_key ? first + 1 : first],
                       .line = statement->line};
}

static kw_status run_remove(cli_scene *scene, const cli_statement *statement, kw_error *err)
{
    const char *what = statement->words[0];
    const char *const *words = statement->words;
    unsigned count = statement->word_count - 1;
    if (strcmp(what, "define") == 0 && count == 1) {
        return cli_scene_remove_definition(scene, words[1], err);
    }
    if (strcmp(what, "impl") == 0 && (count == 2 || count == 3)) {
        const cli_place place = read_place(statement, 2);
        return cli_scene_remove_impl(scene, words[1], &place, err);
    }
    if (strcmp(what, "fallback") == 0 && count <= 1) {
        return cli_scene_remove_fallback(scene, words[1], err);
    }
    return cli_fail(err, CLI_SYNTAX,
                    "the forms are `remove define OPERATOR`, `remove impl OPERATOR [KEY] KERNEL` "
                    "and `remove fallback [KEY]`");
}

static kw_status run_library(cli_scene *scene, const cli_statement *statement, kw_error *err)
{
    const cli_library_words words = {.name = statement->words[0],
                                     .ns = statement->words[1],
                                     .kind = statement->words[2],
                                     .key = statement->words[3],
                                     .file = scene->file,
                                     .line = statement->line};
    return cli_scene_library(scene, &words, err);
}

static kw_status run_statement(explanation *run, const cli_statement *statement, kw_error *err)
{
    cli_scene *scene = &run->scene;
    cli_place place;
    switch (statement->verb) {
    case CLI_BARE:
        return cli_fail(err, CLI_SYNTAX, "`bare` can only be the first statement");
    case CLI_LIBRARY:
        return run_library(scene, statement, err);
    case CLI_DEFINE:
        return cli_scene_define(scene, statement->rest, statement->line, err);
    case CLI_IMPL:
        place = read_place(statement, 1);
        return cli_scene_impl(scene, statement->words[0], &place, err);
    case CLI_FALLBACK:
        place = read_place(statement, 0);
        return cli_scene_fallback(scene, &place, err);
    case CLI_REMOVE:
        return run_remove(scene, statement, err);
    case CLI_CLOSE:
        return cli_scene_close(scene, statement->words[0], err);
    case CLI_BEGIN:
        return cli_scene_begin(scene, statement->line, err);
    case CLI_COMMIT:
        return cli_scene_commit(scene, err);
    case CLI_ABORT:
        return cli_scene_abort(scene, err);
    case CLI_INCLUDE:
    case CLI_EXCLUDE:
    case CLI_RESET:
        return run_local(statement, err);
    case CLI_CALL:
    case CLI_REDISPATCH:
        return cli_answer_call(scene, &run->style, statement, err);
    case CLI_TABLE:
        return cli_answer_table(scene, &run->style, statement, err);
    case CLI_STATE:
        return cli_answer_state(scene, &run->style, statement, err);
    }
    return KW_INTERNAL;
}

// Failures ----------------------------------------------------------------------------------------

// Tells a failure; true if the run goes on.
static bool tell_failure(explanation *run, const cli_statement *statement, kw_status status,
                         const kw_error *err)
{
    const char *name = cli_status_name(status);
    if (run->style.is_json) {
        cli_json json = cli_json_open();
        cli_json_string(&json, "statement", statement->name);
        cli_json_string(&json, "error", name);
        cli_json_string(&json, "text", err->text);
        cli_json_number(&json, "line", statement->line);
        cli_json_close(&json);
    } else if (run->keeps_going) {
        (void)printf("%serror %s%s%s%s\n", cli_colour_code(&run->style, CLI_BAD), name,
                     cli_colour_code(&run->style, CLI_PLAIN), run->style.is_terminal ? ": " : "",
                     run->style.is_terminal ? err->text : "");
    }
    if (!run->keeps_going) {
        (void)fflush(stdout);
        (void)fprintf(stderr, "%s:%u: error %s: %s\n", run->reader->name, statement->line, name,
                      err->text);
    }
    if (!run->keeps_going || status == CLI_SYNTAX) {
        run->exit_status = CLI_FAILURE;
    }
    return run->keeps_going;
}

// The run -----------------------------------------------------------------------------------------

static kw_status run_line(explanation *run, cli_statement *statement, kw_error *err)
{
    bool is_empty = false;
    *statement = (cli_statement){.line = run->reader->line};
    if (run->reader->problem != NULL) {
        return cli_fail(err, CLI_SYNTAX, "%s", run->reader->problem);
    }
    kw_status status =
        cli_statement_parse(run->reader->text, run->reader->line, statement, &is_empty, err);
    if (status != KW_OK || is_empty) {
        return status;
    }
    bool is_bare = statement->verb == CLI_BARE;
    if (!run->has_scene) {
        status = cli_scene_init(&run->scene, run->reader->name, is_bare, err);
        run->has_scene = status == KW_OK;
        if (status != KW_OK || is_bare) {
            return status;
        }
    }
    return run_statement(run, statement, err);
}

// Ends the scene. What a whole scenario leaves open is a failure of it.
static void end_run(explanation *run, bool is_whole)
{
    cli_statement end = {.name = "begin", .line = run->scene.tx_line};
    kw_error err = KW_ERROR_INIT;
    if (is_whole && run->scene.tx != NULL) {
        (void)cli_fail(&err, KW_WRONG_ORDER,
                       "the transaction is neither committed nor aborted at the end");
        (void)tell_failure(run, &end, err.status, &err);
    }
    kw_status status = cli_scene_fini(&run->scene, &err);
    if (status != KW_OK) {
        (void)fprintf(stderr, "%s: error %s: at the end: %s\n", run->reader->name,
                      cli_status_name(status), err.text);
        run->exit_status = CLI_FAILURE;
    }
}

static void run_file(explanation *run)
{
    bool goes_on = true;
    while (goes_on && cli_reader_next(run->reader)) {
        cli_statement statement;
        kw_error err = KW_ERROR_INIT;
        kw_status status = run_line(run, &statement, &err);
        goes_on = status == KW_OK || tell_failure(run, &statement, status, &err);
    }
    if (run->has_scene) {
        end_run(run, goes_on);
    }
    if (cli_reader_has_failed(run->reader)) {
        run->exit_status = CLI_UNUSABLE;
    }
}

// Whether the terminal shows colours and its user wants them (no-color.org).
static bool wants_colour(void)
{
    // The program has one thread.
    const char *term = getenv("TERM");          // NOLINT(concurrency-mt-unsafe)
    const char *no_colour = getenv("NO_COLOR"); // NOLINT(concurrency-mt-unsafe)
    return term != NULL && strcmp(term, "dumb") != 0 && (no_colour == NULL || no_colour[0] == '\0');
}

int cli_explain_command(int argc, char **argv)
{
    cli_options options;
    if (!cli_options_read(&options, "explain", argc, argv)) {
        return CLI_UNUSABLE;
    }
    if (options.operand == NULL) {
        (void)fputs("keyway explain: a file is missing; `-` is standard input\n", stderr);
        return CLI_UNUSABLE;
    }
    cli_reader *reader = cli_reader_open(options.operand);
    if (reader == NULL) {
        return CLI_UNUSABLE;
    }
    explanation run = {.reader = reader,
                       .style = {.is_json = options.is_json},
                       .keeps_going = options.keeps_going};
    run.style.is_terminal = !options.is_json && isatty(STDOUT_FILENO);
    run.style.has_colour = run.style.is_terminal && wants_colour();
    run_file(&run);
    cli_reader_close(reader);
    return run.exit_status;
}
