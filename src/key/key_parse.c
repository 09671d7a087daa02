// Keys and backends from their names.
//
// Layer:   key
// Threads: any; nothing here is shared.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/key.h>

#include "base/text.h"
#include "key/key_name.h"
#include "key/private_use.h"
#include "key/suggest.h"

static bool is_equal(const char *name, const char *text, size_t length)
{
    return strncmp(name, text, length) == 0 && name[length] == '\0';
}

// A linear search of 157 names: parsing belongs to registration and tools, never to a call.
bool kwi_key_find(const char *name, size_t length, kw_key *out_key)
{
    if (kwi_private_use_find_key(name, length, out_key)) {
        return true;
    }
    size_t cursor = 0;
    for (;;) {
        kwi_key_spelling spelling = kwi_key_spelling_next(&cursor);
        if (spelling.name == NULL) {
            return false;
        }
        if (is_equal(spelling.name, name, length)) {
            *out_key = spelling.key;
            return true;
        }
    }
}

static kw_status fail_unknown(kw_error *err, const char *where, const char *kind,
                              const kwi_suggestion *suggestion)
{
    char quoted[KWI_QUOTE_BYTES];
    kwi_quote(quoted, suggestion->wanted, suggestion->length);
    if (suggestion->best == NULL) {
        return kwi_fail(err, KW_UNKNOWN_KEY, "%sno %s is called %s", where, kind, quoted);
    }
    return kwi_fail(err, KW_UNKNOWN_KEY, "%sno %s is called %s; did you mean '%s'?", where, kind,
                    quoted, suggestion->best);
}

kw_status kwi_key_fail_unknown(kw_error *err, const char *where, const char *name, size_t length)
{
    kwi_suggestion suggestion = kwi_suggestion_begin(name, length);
    size_t cursor = 0;
    const char *known = kwi_key_spelling_next(&cursor).name;
    while (known != NULL) {
        kwi_suggestion_offer(&suggestion, known);
        known = kwi_key_spelling_next(&cursor).name;
    }
    return fail_unknown(err, where, "dispatch key", &suggestion);
}

kw_status kw_key_parse(const char *text, kw_key *out_key, kw_error *err)
{
    if (text == NULL || out_key == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "kw_key_parse: %s is NULL",
                        text == NULL ? "text" : "out_key");
    }
    size_t length = strlen(text);
    if (!kwi_key_find(text, length, out_key)) {
        return kwi_key_fail_unknown(err, "", text, length);
    }
    return KW_OK;
}

// With or without PyTorch's suffix.
static bool is_backend_name(const char *name, const char *text)
{
    size_t length = strlen(name);
    return strncmp(name, text, length) == 0 &&
           (text[length] == '\0' || strcmp(text + length, "Bit") == 0);
}

kw_status kw_backend_parse(const char *text, kw_backend *out_backend, kw_error *err)
{
    if (text == NULL || out_backend == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "kw_backend_parse: %s is NULL",
                        text == NULL ? "text" : "out_backend");
    }
    if (kwi_private_use_find_backend(text, strlen(text), out_backend)) {
        return KW_OK;
    }
    kwi_suggestion suggestion = kwi_suggestion_begin(text, strlen(text));
    for (int number = 1; number <= KW_BACKEND_COUNT; number++) {
        kw_backend backend = (kw_backend)number;
        if (is_backend_name(kw_backend_name(backend), text) ||
            is_backend_name(kwi_backend_spelling(backend), text)) {
            *out_backend = backend;
            return KW_OK;
        }
        kwi_suggestion_offer(&suggestion, kw_backend_name(backend));
    }
    return fail_unknown(err, "", "backend", &suggestion);
}
