// Expressions: sets of keys written with operators.
//
// Layer:   cli (public headers only)
// Threads: any.
// SPDX-License-Identifier: MIT

#include "cli/expression.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"

#define DEPTH_MAX 64

// Longer than every name, so that a cut word is unknown too.
#define WORD_BYTES 128

// An open group: the value so far, and what to do with the next term.
typedef struct group {
    kw_keyset value;
    char operation;
} group;

typedef struct evaluation {
    const char *text;
    const char *next;
    kw_error *err;
    group groups[DEPTH_MAX]; // the outermost first
    unsigned depth;          // of the innermost
} evaluation;

static void skip_blanks(evaluation *in)
{
    in->next += strspn(in->next, " \t");
}

static kw_status fail(evaluation *in, const char *expected)
{
    long position = (long)(in->next - in->text);
    if (*in->next == '\0') {
        return cli_fail(in->err, KW_INVALID_ARGUMENT,
                        "at position %ld: the text ends where %s should be", position, expected);
    }
    return cli_fail(in->err, KW_INVALID_ARGUMENT,
                    "at position %ld: found `%.16s` where %s should be", position, in->next,
                    expected);
}

static kw_keyset combine(kw_keyset left, char operation, kw_keyset right)
{
    switch (operation) {
    case '&':
        return kw_keyset_intersection(left, right);
    case '^':
        return kw_keyset_xor(left, right);
    case '-':
        return kw_keyset_difference(left, right);
    default:
        return kw_keyset_union(left, right);
    }
}

static void add_term(evaluation *in, kw_keyset term)
{
    group *inner = &in->groups[in->depth];
    inner->value = combine(inner->value, inner->operation, term);
}

static kw_status open_group(evaluation *in)
{
    if (in->depth + 1 == DEPTH_MAX) {
        return cli_fail(in->err, KW_INVALID_ARGUMENT, "more than %d parentheses are open",
                        DEPTH_MAX - 1);
    }
    in->next++;
    in->groups[++in->depth] = (group){.operation = '|'};
    return KW_OK;
}

// Reads a name or number into `word`; an empty one if there is none.
static void read_word(evaluation *in, char word[WORD_BYTES])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t length = strspn(in->next, letters);
    size_t kept = length < WORD_BYTES ? length : WORD_BYTES - 1;
    memcpy(word, in->next, kept);
    word[kept] = '\0';
    in->next += length;
}

static kw_status fail_word(evaluation *in, const char *start, const char *sentence)
{
    return cli_fail(in->err, KW_INVALID_ARGUMENT, "at position %ld: %s", (long)(start - in->text),
                    sentence);
}

// Reads "(KEY)" behind FULL_AFTER.
static kw_status read_full_after(evaluation *in, kw_keyset *out_term)
{
    char word[WORD_BYTES];
    skip_blanks(in);
    if (*in->next != '(') {
        return fail(in, "'('");
    }
    in->next++;
    skip_blanks(in);
    const char *start = in->next;
    read_word(in, word);
    kw_key key;
    kw_status status = kw_key_parse(word, &key, in->err);
    if (status != KW_OK) {
        return status;
    }
    if (kw_keyset_is_empty(kw_keyset_from_functionality(key))) {
        return fail_word(in, start, "FULL_AFTER needs a key with a bit of its own");
    }
    skip_blanks(in);
    if (*in->next != ')') {
        return fail(in, "')'");
    }
    in->next++;
    *out_term = kw_keyset_full_after(key);
    return KW_OK;
}

static kw_status read_number(evaluation *in, const char *start, const char *word,
                             kw_keyset *out_term)
{
    char *end = NULL;
    errno = 0;
    unsigned long long bits = strtoull(word, &end, 0);
    if (errno != 0 || *end != '\0' || bits > KW_KEYSET_FULL) {
        return fail_word(in, start, "a number must have at most 63 bits");
    }
    *out_term = kw_keyset_from_bits(bits);
    return KW_OK;
}

// The set of a key, of an alias's keys, or of a backend alone ("CPUBit").
static kw_status read_key(evaluation *in, const char *word, kw_keyset *out_term)
{
    kw_key key;
    kw_backend backend;
    kw_status status = kw_key_parse(word, &key, in->err);
    if (status == KW_OK) {
        *out_term = kw_key_is_alias(key) ? kw_key_runtime_set(key) : kw_keyset_from_key(key);
    } else if (kw_backend_parse(word, &backend, NULL) == KW_OK) {
        *out_term = kw_keyset_from_backend(backend);
        status = KW_OK;
    }
    return status;
}

// Reads a term that is no group, or opens one.
static kw_status read_term(evaluation *in, bool *out_opens)
{
    char word[WORD_BYTES];
    kw_keyset term = kw_keyset_empty();
    kw_status status = KW_OK;
    const char *start = in->next;
    read_word(in, word);
    bool is_set = strcmp(word, "DispatchKeySet") == 0;
    skip_blanks(in);
    *out_opens = (word[0] == '\0' || is_set) && *in->next == '(';
    if (*out_opens) {
        return open_group(in);
    }
    if (word[0] == '\0' || is_set) {
        return fail(in, is_set ? "'('" : "a key, FULL, FULL_AFTER(key), a number or '('");
    }
    if (strcmp(word, "FULL") == 0) {
        term = kw_keyset_full();
    } else if (strcmp(word, "FULL_AFTER") == 0) {
        status = read_full_after(in, &term);
    } else if (word[0] >= '0' && word[0] <= '9') {
        status = read_number(in, start, word, &term);
    } else {
        status = read_key(in, word, &term);
    }
    add_term(in, term);
    return status;
}

// Closes groups as long as the text does.
static void close_groups(evaluation *in)
{
    skip_blanks(in);
    while (*in->next == ')' && in->depth > 0) {
        kw_keyset value = in->groups[in->depth--].value;
        add_term(in, value);
        in->next++;
        skip_blanks(in);
    }
}

kw_status cli_expression_evaluate(const char *text, kw_keyset *out_keys, kw_error *err)
{
    evaluation in = {.text = text, .next = text, .err = err};
    in.groups[0].operation = '|';
    for (;;) {
        bool opens = false;
        skip_blanks(&in);
        kw_status status = read_term(&in, &opens);
        if (status != KW_OK) {
            return status;
        }
        skip_blanks(&in);
        if (opens && *in.next != ')') {
            continue;
        }
        close_groups(&in);
        if (*in.next == '\0' && in.depth == 0) {
            *out_keys = in.groups[0].value;
            return KW_OK;
        }
        if (*in.next == '\0' || strchr("|,&^-", *in.next) == NULL) {
            return fail(&in, in.depth > 0 ? "an operator or ')'" : "an operator");
        }
        in.groups[in.depth].operation = *in.next++;
    }
}
