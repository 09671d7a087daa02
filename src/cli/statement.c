// Statements: the forms of a scenario's lines, and how a line is taken apart.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/statement.h"

#include <string.h>

#include "cli/memory.h"

// What may follow the words.
typedef enum rest_kind {
    REST_NONE,
    REST_OPTIONAL,
    REST_REQUIRED
} rest_kind;

typedef struct form {
    const char *name;
    const char *text; // the whole form, for texts
    unsigned words_min;
    unsigned words_max;
    rest_kind rest;
} form;

static const form forms[] = {
    [CLI_BARE] = {"bare", "bare", 0, 0, REST_NONE},
    [CLI_LIBRARY] = {"library", "library NAME [NAMESPACE [KIND [KEY]]]", 1, 4, REST_NONE},
    [CLI_DEFINE] = {"define", "define SCHEMA", 0, 0, REST_REQUIRED},
    [CLI_IMPL] = {"impl", "impl OPERATOR [KEY] KERNEL", 2, 3, REST_NONE},
    [CLI_FALLBACK] = {"fallback", "fallback [KEY] KERNEL", 1, 2, REST_NONE},
    [CLI_REMOVE] = {"remove",
                    "remove define OPERATOR, remove impl OPERATOR [KEY] KERNEL or remove fallback "
                    "[KEY]",
                    1, 4, REST_NONE},
    [CLI_CLOSE] = {"close", "close NAME", 1, 1, REST_NONE},
    [CLI_BEGIN] = {"begin", "begin", 0, 0, REST_NONE},
    [CLI_COMMIT] = {"commit", "commit", 0, 0, REST_NONE},
    [CLI_ABORT] = {"abort", "abort", 0, 0, REST_NONE},
    [CLI_INCLUDE] = {"include", "include KEYS", 0, 0, REST_REQUIRED},
    [CLI_EXCLUDE] = {"exclude", "exclude KEYS", 0, 0, REST_REQUIRED},
    [CLI_RESET] = {"reset", "reset", 0, 0, REST_NONE},
    [CLI_CALL] = {"call", "call OPERATOR [KEYS]", 1, 1, REST_OPTIONAL},
    [CLI_REDISPATCH] = {"redispatch", "redispatch OPERATOR [KEYS]", 1, 1, REST_OPTIONAL},
    [CLI_TABLE] = {"table", "table OPERATOR [all]", 1, 2, REST_NONE},
    [CLI_STATE] = {"state", "state OPERATOR", 1, 1, REST_NONE},
};

#define FORM_COUNT (sizeof forms / sizeof forms[0])

static const char blanks[] = " \t\v\f\r";

// Ends the text where its comment begins. In a schema a `#` may stand inside a string.
static void cut_comment(char *text, bool has_strings)
{
    char quote = '\0';
    for (char *next = text; *next != '\0'; next++) {
        if (quote != '\0' && *next == '\\' && next[1] != '\0') {
            next++;
        } else if (quote != '\0') {
            quote = *next == quote ? '\0' : quote;
        } else if (has_strings && (*next == '"' || *next == '\'')) {
            quote = *next;
        } else if (*next == '#') {
            *next = '\0';
            return;
        }
    }
}

static void cut_blanks(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1]) != NULL) {
        text[--length] = '\0';
    }
}

// Ends the word at `*next` with a zero and steps over it; NULL at the end of the text.
static const char *take_word(char **next)
{
    char *word = *next + strspn(*next, blanks);
    size_t length = strcspn(word, blanks);
    *next = word + length;
    if (length == 0) {
        return NULL;
    }
    if (**next != '\0') {
        *(*next)++ = '\0';
    }
    return word;
}

static const form *find_form(const char *name)
{
    for (size_t i = 0; i < FORM_COUNT; i++) {
        if (strcmp(forms[i].name, name) == 0) {
            return &forms[i];
        }
    }
    return NULL;
}

static kw_status check_form(const form *found, const cli_statement *statement, kw_error *err)
{
    bool has_rest = statement->rest[0] != '\0';
    if (statement->word_count < found->words_min || (found->rest == REST_REQUIRED && !has_rest)) {
        return cli_fail(err, CLI_SYNTAX, "a word is missing; the form is `%s`", found->text);
    }
    if (found->rest == REST_NONE && has_rest) {
        return cli_fail(err, CLI_SYNTAX, "`%.64s` is too much; the form is `%s`", statement->rest,
                        found->text);
    }
    return KW_OK;
}

static bool is_define(const char *text)
{
    static const char word[] = "define";
    text += strspn(text, blanks);
    return strncmp(text, word, sizeof word - 1) == 0;
}

kw_status cli_statement_parse(char *text, uint32_t line, cli_statement *out_statement,
                              bool *out_is_empty, kw_error *err)
{
    char *next = text;
    cut_comment(text, is_define(text));
    cut_blanks(text);
    *out_statement = (cli_statement){.line = line, .name = take_word(&next), .rest = ""};
    *out_is_empty = out_statement->name == NULL;
    if (*out_is_empty) {
        return KW_OK;
    }
    const form *found = find_form(out_statement->name);
    if (found == NULL) {
        return cli_fail(err, CLI_SYNTAX, "`%.64s` begins no statement; `keyway help` lists them",
                        out_statement->name);
    }
    out_statement->verb = (cli_verb)(found - forms);
    while (out_statement->word_count < found->words_max) {
        const char *word = take_word(&next);
        if (word == NULL) {
            break;
        }
        out_statement->words[out_statement->word_count++] = word;
    }
    out_statement->rest = next + strspn(next, blanks);
    return check_form(found, out_statement, err);
}
