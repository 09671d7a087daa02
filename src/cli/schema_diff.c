// `keyway schema diff`: compares two files of declarations, or the declarations of one in pairs.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"
#include "cli/schema.h"
#include "cli/schema_list.h"

#define REASON_BYTES 1024

// What is counted: the library's relations, with their numbers, and three of ours.
typedef enum outcome {
    ONLY_FIRST = KW_SCHEMA_DIFFERENT + 1,
    ONLY_SECOND,
    BAD,
    OUTCOME_COUNT
} outcome;

static const char *const outcome_names[] = {
    [KW_SCHEMA_EQUAL] = "equal",         [KW_SCHEMA_COMPATIBLE] = "compatible",
    [KW_SCHEMA_DIFFERENT] = "different", [ONLY_FIRST] = "only-first",
    [ONLY_SECOND] = "only-second",       [BAD] = "bad",
};

typedef struct comparison {
    const cli_options *options;
    uint64_t counts[OUTCOME_COUNT];
} comparison;

// Two declarations, one of which may be missing, and what came of them.
typedef struct pair {
    const cli_parsed *first;
    const cli_parsed *second;
    unsigned outcome;
    char reason[REASON_BYTES]; // "" if there is none
} pair;

static void add_side(cli_json *json, const char *line, const char *schema, const cli_parsed *side)
{
    if (side == NULL) {
        cli_json_null(json, line);
        cli_json_null(json, schema);
        return;
    }
    char *text = cli_schema_text(side->schema);
    cli_json_number(json, line, side->start.line);
    cli_json_string(json, schema, text);
    free(text);
}

static void print_object(const pair *compared)
{
    const cli_parsed *named = compared->first != NULL ? compared->first : compared->second;
    cli_json json = cli_json_open();
    cli_json_string(&json, "name", kw_schema_name(named->schema));
    cli_json_string(&json, "relation", outcome_names[compared->outcome]);
    cli_json_string(&json, "reason", compared->reason[0] != '\0' ? compared->reason : NULL);
    add_side(&json, "first_line", "first_schema", compared->first);
    add_side(&json, "second_line", "second_schema", compared->second);
    cli_json_close(&json);
}

static void print_line(const comparison *run, const pair *compared)
{
    const cli_parsed *first = compared->first;
    const cli_parsed *second = compared->second;
    if (first == NULL || second == NULL) {
        const cli_parsed *only = first != NULL ? first : second;
        (void)printf("only in %s: %s", only->file, kw_schema_name(only->schema));
    } else if (run->options->second != NULL) {
        (void)printf("%s: %s", outcome_names[compared->outcome], kw_schema_name(first->schema));
    } else {
        (void)printf("%s: lines %" PRIu32 " and %" PRIu32, outcome_names[compared->outcome],
                     first->start.line, second->start.line);
    }
    (void)printf("%s%s\n", compared->reason[0] != '\0' ? ": " : "", compared->reason);
}

// Compares, prints and counts.
static void compare(comparison *run, const cli_parsed *first, const cli_parsed *second)
{
    pair compared = {.first = first, .second = second};
    if (first == NULL) {
        compared.outcome = ONLY_SECOND;
    } else if (second == NULL) {
        compared.outcome = ONLY_FIRST;
    } else {
        compared.outcome = (unsigned)kw_schema_compare(first->schema, second->schema,
                                                       compared.reason, sizeof compared.reason);
    }
    run->counts[compared.outcome]++;
    if (run->options->is_json) {
        print_object(&compared);
    } else {
        print_line(run, &compared);
    }
}

static void compare_lists(comparison *run, const cli_schema_list *first,
                          const cli_schema_list *second)
{
    for (size_t i = 0; i < first->count; i++) {
        const cli_parsed *other = cli_schema_list_find(second, &first->items[i]);
        compare(run, &first->items[i], other);
    }
    for (size_t i = 0; i < second->count; i++) {
        if (cli_schema_list_find(first, &second->items[i]) == NULL) {
            compare(run, NULL, &second->items[i]);
        }
    }
}

static bool compare_files(comparison *run)
{
    cli_schema_list first = {.count = 0};
    cli_schema_list second = {.count = 0};
    bool is_read = cli_schema_list_read(&first, run->options->operand, run->options->is_json) &&
                   cli_schema_list_read(&second, run->options->second, run->options->is_json);
    if (is_read) {
        compare_lists(run, &first, &second);
        run->counts[BAD] = first.bad_count + second.bad_count;
    }
    cli_schema_list_fini(&first);
    cli_schema_list_fini(&second);
    return is_read;
}

static void tell(const comparison *run, const cli_parsed *parsed)
{
    if (run->options->is_json) {
        cli_schema_print_object(parsed);
    } else {
        cli_parsed_tell(parsed);
    }
}

static void tell_bad(comparison *run, const cli_parsed *parsed)
{
    if (parsed->schema == NULL) {
        run->counts[BAD]++;
        tell(run, parsed);
    }
}

// Compares a declaration with the next one; false if there is none.
static bool compare_next(comparison *run, cli_schema_reader *reader, cli_parsed *first)
{
    cli_parsed second;
    if (!cli_parsed_next(reader, &second)) {
        kw_schema_destroy(first->schema);
        first->schema = NULL;
        (void)cli_fail(&first->err, KW_INVALID_ARGUMENT,
                       "the number of declarations is odd: this one has none to be compared with");
        first->err.position = KW_NO_POSITION;
        first->wrong = first->start;
        tell(run, first);
        return false;
    }
    if (first->schema != NULL && second.schema != NULL) {
        compare(run, first, &second);
    } else {
        tell_bad(run, first);
        tell_bad(run, &second);
    }
    cli_parsed_fini(&second);
    return true;
}

static bool compare_pairs(comparison *run)
{
    cli_schema_reader *reader = cli_schema_reader_open(run->options->operand);
    if (reader == NULL) {
        return false;
    }
    bool is_even = true;
    for (cli_parsed first; is_even && cli_parsed_next(reader, &first); cli_parsed_fini(&first)) {
        is_even = compare_next(run, reader, &first);
    }
    bool has_failed = cli_schema_reader_has_failed(reader);
    cli_schema_reader_close(reader);
    return is_even && !has_failed;
}

static void print_summary(const comparison *run)
{
    const uint64_t *counts = run->counts;
    (void)printf("%" PRIu64 " equal, %" PRIu64 " compatible, %" PRIu64 " different",
                 counts[KW_SCHEMA_EQUAL], counts[KW_SCHEMA_COMPATIBLE],
                 counts[KW_SCHEMA_DIFFERENT]);
    if (run->options->second != NULL) {
        (void)printf(", %" PRIu64 " only in the first file, %" PRIu64 " only in the second",
                     counts[ONLY_FIRST], counts[ONLY_SECOND]);
    }
    (void)printf(", %" PRIu64 " bad\n", counts[BAD]);
}

int cli_schema_diff(const cli_options *options)
{
    comparison run = {.options = options};
    bool is_done = options->second != NULL ? compare_files(&run) : compare_pairs(&run);
    if (!is_done) {
        return CLI_UNUSABLE;
    }
    if (!options->is_json) {
        print_summary(&run);
    }
    for (unsigned i = 0; i < OUTCOME_COUNT; i++) {
        if (i != KW_SCHEMA_EQUAL && run.counts[i] > 0) {
            return CLI_FAILURE;
        }
    }
    return CLI_SUCCESS;
}
