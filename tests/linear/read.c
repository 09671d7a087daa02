// Reading operations of histories from the lines that they are printed as.
//
// Layer:   test
// Threads: one thread reads.
// SPDX-License-Identifier: MIT

#include <stdlib.h>
#include <string.h>

#include <keyway/key.h>

#include "linear/operation.h"

#define LINE_BYTES 4096

// A line as its words.
typedef struct words {
    char text[LINE_BYTES];
    char *rest;
    bool is_bad;
} words;

static const char *next(words *from)
{
    const char *word = strtok_r(NULL, " \t\r\n", &from->rest);
    from->is_bad = from->is_bad || word == NULL;
    return word != NULL ? word : "";
}

static bool is_next(words *from, const char *wanted)
{
    while (*from->rest == ' ') {
        from->rest++;
    }
    size_t length = strlen(wanted);
    bool is_it = strncmp(from->rest, wanted, length) == 0 && strchr(" \n", from->rest[length]);
    if (is_it) {
        (void)next(from);
    }
    return is_it;
}

static void expect(words *from, const char *wanted)
{
    from->is_bad = strcmp(next(from), wanted) != 0 || from->is_bad;
}

// A number after a prefix, as in "#12".
static uint64_t number(words *from, const char *prefix)
{
    const char *word = next(from);
    size_t length = strlen(prefix);
    char *end = NULL;
    if (strncmp(word, prefix, length) != 0) {
        from->is_bad = true;
        return 0;
    }
    uint64_t value = strtoull(word + length, &end, 10);
    from->is_bad = from->is_bad || *end != '\0' || end == word + length;
    return value;
}

static unsigned small(words *from, const char *prefix, unsigned limit)
{
    uint64_t value = number(from, prefix);
    from->is_bad = from->is_bad || value >= limit;
    return value < limit ? (unsigned)value : 0;
}

// Whether a word has the mark of a second entry, which is taken off.
static uint8_t take_entry(char *word)
{
    size_t length = strlen(word);
    bool is_second = length > 0 && word[length - 1] == '\'';
    if (is_second) {
        word[length - 1] = '\0';
    }
    return is_second ? 1 : 0;
}

static uint8_t read_operator(words *from, uint8_t *out_entry)
{
    char word[64];
    (void)snprintf(word, sizeof word, "%s", next(from));
    uint8_t entry = take_entry(word);
    if (out_entry != NULL) {
        *out_entry = entry;
    }
    for (unsigned i = 0; i < REFERENCE_OPERATORS; i++) {
        if (strcmp(word, reference_operator_name(i)) == 0) {
            return (uint8_t)i;
        }
    }
    from->is_bad = true;
    return 0;
}

static uint16_t read_key(words *from)
{
    kw_key key = KW_KEY_Undefined;
    from->is_bad = kw_key_parse(next(from), &key, NULL) != KW_OK || from->is_bad;
    return (uint16_t)key;
}

static uint8_t read_form(words *from)
{
    static const char *const forms[REFERENCE_FORM_COUNT] = {"boxed", "fallthrough", "t", "ti"};
    const char *word = next(from);
    for (unsigned i = 0; i < REFERENCE_FORM_COUNT; i++) {
        if (strcmp(word, forms[i]) == 0) {
            return (uint8_t)i;
        }
    }
    from->is_bad = true;
    return 0;
}

static kw_status read_status(words *from, uint8_t *out_entry)
{
    static const struct {
        const char *name;
        kw_status status;
    } all[] = {
#define STATUS_ROW(name, number, sentence) {#name, number},
        KW_STATUS_LIST(STATUS_ROW)
#undef STATUS_ROW
    };
    char word[64];
    (void)snprintf(word, sizeof word, "%s", next(from));
    if (out_entry != NULL) {
        *out_entry = take_entry(word);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(word, kw_status_name(all[i].status)) == 0) {
            return all[i].status;
        }
    }
    from->is_bad = true;
    return KW_OK;
}

static kw_keyset read_tensor(words *from)
{
    const char *word = next(from);
    for (unsigned i = 0; i < LINEAR_TENSORS; i++) {
        if (strcmp(word, linear_tensor_name(i)) == 0) {
            return linear_tensor_keys(i);
        }
    }
    from->is_bad = true;
    return kw_keyset_empty();
}

static uint8_t read_library(words *from)
{
    return (uint8_t)small(from, "L", LINEAR_LIBRARIES);
}

static uint16_t read_mark(words *from)
{
    return (uint16_t)small(from, "#", UINT16_MAX);
}

static void read_step(words *from, reference_step *step)
{
    const char *word = next(from);
    *step = (reference_step){0};
    step->library = read_library(from);
    if (strcmp(word, "define") == 0) {
        step->kind = REFERENCE_DEFINE;
        step->op = read_operator(from, NULL);
        step->schema = (uint8_t)linear_entry_schema(read_form(from) == REFERENCE_FORM_T);
        step->mark = read_mark(from);
    } else if (strcmp(word, "impl") == 0) {
        step->kind = REFERENCE_IMPL;
        step->op = read_operator(from, NULL);
        step->key = read_key(from);
        step->form = read_form(from);
        step->priority = (int8_t)small(from, "", INT8_MAX);
        step->mark = read_mark(from);
    } else if (strcmp(word, "fallback") == 0) {
        step->kind = REFERENCE_FALL_BACK;
        step->key = read_key(from);
        step->form = read_form(from);
        step->mark = read_mark(from);
    } else if (strcmp(word, "remove") == 0) {
        step->kind = REFERENCE_REMOVE;
        step->mark = read_mark(from);
    } else {
        from->is_bad = from->is_bad || strcmp(word, "close") != 0;
        step->kind = REFERENCE_CLOSE;
    }
}

static void read_commit(words *from, linear_question *question)
{
    question->asked.kind = REFERENCE_TRANSACTION;
    expect(from, "{");
    while (!from->is_bad && question->asked.step_count < REFERENCE_STEPS) {
        read_step(from, &question->asked.steps[question->asked.step_count++]);
        if (is_next(from, "}")) {
            break;
        }
        expect(from, ";");
    }
    expect(from, "=");
    question->status = read_status(from, NULL);
    if (from->rest != NULL && from->rest[strspn(from->rest, " ")] == 'v') {
        question->version = number(from, "v");
    }
}

static void read_call(words *from, linear_question *question, bool is_typed)
{
    question->asked.is_typed = is_typed;
    question->asked.kind = REFERENCE_CALL;
    question->asked.op = read_operator(from, &question->asked.entry);
    question->asked.arguments = read_tensor(from);
    expect(from, "=");
    question->status = read_status(from, NULL);
    while (!from->is_bad && from->rest != NULL && from->rest[strspn(from->rest, " ")] == '#' &&
           question->mark_count < LINEAR_CHAIN) {
        question->marks[question->mark_count++] = read_mark(from);
    }
    question->ran_at = number(from, "@");
}

static void read_has(words *from, linear_question *question, reference_kind kind)
{
    question->asked.kind = (uint8_t)kind;
    question->asked.op = read_operator(from, &question->asked.entry);
    question->asked.key = read_key(from);
    expect(from, "=");
    const char *word = next(from);
    question->yes = strcmp(word, "yes") == 0;
    from->is_bad = from->is_bad || (!question->yes && strcmp(word, "no") != 0);
}

static void read_about_library(words *from, linear_question *question, reference_kind kind)
{
    question->asked.kind = (uint8_t)kind;
    question->asked.library = read_library(from);
    question->asked.made.kind = 0;
    expect(from, "=");
    question->status = read_status(from, NULL);
}

static void read_find(words *from, linear_question *question, reference_kind kind)
{
    question->asked.kind = (uint8_t)kind;
    question->asked.op = read_operator(from, &question->asked.entry);
    expect(from, "=");
    question->status = read_status(from, &question->entry);
}

static void read_question(words *from, const char *verb, linear_question *question)
{
    *question = (linear_question){0};
    if (strcmp(verb, "call") == 0) {
        read_call(from, question, true);
    } else if (strcmp(verb, "call_boxed") == 0) {
        read_call(from, question, false);
    } else if (strcmp(verb, "commit") == 0) {
        read_commit(from, question);
    } else if (strcmp(verb, "find") == 0) {
        read_find(from, question, REFERENCE_FIND);
    } else if (strcmp(verb, "find_schema") == 0) {
        read_find(from, question, REFERENCE_FIND_SCHEMA);
    } else if (strcmp(verb, "has") == 0) {
        read_has(from, question, REFERENCE_HAS_KERNEL);
    } else if (strcmp(verb, "computed") == 0) {
        read_has(from, question, REFERENCE_HAS_COMPUTED);
    } else if (strcmp(verb, "create") == 0) {
        read_about_library(from, question, REFERENCE_CREATE_LIBRARY);
    } else if (strcmp(verb, "destroy") == 0) {
        read_about_library(from, question, REFERENCE_DESTROY_LIBRARY);
    } else {
        from->is_bad = true;
    }
}

static void read_snapshot(words *from, linear_operation *operation)
{
    operation->kind = LINEAR_SNAPSHOT;
    operation->version = is_next(from, "any") ? LINEAR_ANY_VERSION : number(from, "");
    expect(from, "[");
    if (is_next(from, "]")) {
        return;
    }
    while (!from->is_bad && operation->question_count < LINEAR_SNAPSHOT_COUNT) {
        const char *verb = next(from);
        read_question(from, verb, &operation->questions[operation->question_count++]);
        if (is_next(from, "]")) {
            return;
        }
        expect(from, "|");
    }
    from->is_bad = true;
}

bool linear_operation_read(const char *line, linear_operation *out_operation,
                           linear_question *questions)
{
    words from = {.is_bad = strlen(line) >= LINE_BYTES};
    (void)snprintf(from.text, sizeof from.text, "%s", line);
    from.rest = from.text;
    const char *verb = next(&from);
    *out_operation = (linear_operation){.kind = LINEAR_ASK, .questions = questions};
    if (strcmp(verb, "snapshot") == 0) {
        read_snapshot(&from, out_operation);
    } else if (strcmp(verb, "version") == 0) {
        out_operation->kind = LINEAR_VERSION;
        expect(&from, "=");
        out_operation->version = number(&from, "");
    } else if (strcmp(verb, "drain") == 0) {
        out_operation->kind = LINEAR_DRAIN;
        out_operation->library = read_library(&from);
        expect(&from, "=");
        out_operation->status = read_status(&from, NULL);
    } else {
        out_operation->question_count = 1;
        read_question(&from, verb, questions);
    }
    return !from.is_bad;
}
