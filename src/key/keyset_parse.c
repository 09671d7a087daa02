// Key sets from text: DispatchKeySet(A, B), {A, B}, or A, B and A | B without brackets.
//
// Layer:   key
// Threads: any; nothing here is shared.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/keyset.h>

#include "base/text.h"
#include "key/key_name.h"
#include "key/suggest.h"

typedef struct reader {
    const char *text;
    const char *next;
    kw_error *err;
} reader;

// Independent of the locale, unlike isalnum().
static bool is_name_letter(char letter)
{
    return (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') ||
           (letter >= '0' && letter <= '9') || letter == '_';
}

static void skip_spaces(reader *in)
{
    in->next += strspn(in->next, " \t\r\n");
}

static size_t position(const reader *in)
{
    return (size_t)(in->next - in->text);
}

static kw_status fail_expected(const reader *in, const char *expected)
{
    if (*in->next == '\0') {
        return kwi_fail(in->err, KW_INVALID_ARGUMENT,
                        "at position %zu: the text ends where %s should follow", position(in),
                        expected);
    }
    char quoted[KWI_QUOTE_BYTES];
    kwi_quote(quoted, in->next, 1);
    return kwi_fail(in->err, KW_INVALID_ARGUMENT, "at position %zu: %s found instead of %s",
                    position(in), quoted, expected);
}

static kw_status read_key(reader *in, kw_keyset *keys)
{
    size_t length = 0;
    while (is_name_letter(in->next[length])) {
        length++;
    }
    if (length == 0) {
        return fail_expected(in, "the name of a key");
    }
    kw_key key;
    if (!kwi_key_find(in->next, length, &key)) {
        char where[48];
        kwi_text text;
        kwi_text_init(&text, where, sizeof where);
        kwi_text_add(&text, "at position %zu: ", position(in));
        return kwi_key_fail_unknown(in->err, where, in->next, length);
    }
    if (kw_key_is_alias(key)) {
        return kwi_fail(in->err, KW_INVALID_ARGUMENT,
                        "at position %zu: %s is an alias key and owns no bit of a key set; use its "
                        "runtime set, which kw_key_runtime_set() returns",
                        position(in), kw_key_name(key));
    }
    in->next += length;
    *keys = kw_keyset_add(*keys, key);
    return KW_OK;
}

// Reads names up to the closing bracket, or up to the end of the text if it is '\0'.
static kw_status read_list(reader *in, char closing, kw_keyset *keys)
{
    for (;;) {
        skip_spaces(in);
        kw_status status = read_key(in, keys);
        if (status != KW_OK) {
            return status;
        }
        skip_spaces(in);
        if (*in->next == closing) {
            return KW_OK;
        }
        if (*in->next != ',' && *in->next != '|') {
            return fail_expected(in, closing == ')'   ? "',', '|' or ')'"
                                     : closing == '}' ? "',', '|' or '}'"
                                                      : "',' or '|'");
        }
        in->next++;
    }
}

// Steps over the opening of a bracketed list and tells its closing bracket; '\0' without brackets.
static kw_status read_opening(reader *in, char *closing)
{
    static const char prefix[] = "DispatchKeySet";
    *closing = '\0';
    skip_spaces(in);
    if (*in->next == '{') {
        *closing = '}';
    } else if (strncmp(in->next, prefix, sizeof prefix - 1) == 0) {
        in->next += sizeof prefix - 1;
        skip_spaces(in);
        if (*in->next != '(') {
            return fail_expected(in, "'('");
        }
        *closing = ')';
    } else {
        return KW_OK;
    }
    in->next++;
    skip_spaces(in);
    return KW_OK;
}

kw_status kw_keyset_parse(const char *text, kw_keyset *out_keys, kw_error *err)
{
    if (text == NULL || out_keys == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "kw_keyset_parse: %s is NULL",
                        text == NULL ? "text" : "out_keys");
    }
    reader in = {text, text, err};
    kw_keyset keys = kw_keyset_empty();
    char closing;
    kw_status status = read_opening(&in, &closing);
    if (status == KW_OK && (closing == '\0' || *in.next != closing)) {
        status = read_list(&in, closing, &keys);
    }
    if (status != KW_OK) {
        return status;
    }
    if (closing != '\0') {
        in.next++;
        skip_spaces(&in);
        if (*in.next != '\0') {
            return fail_expected(&in, "the end of the text");
        }
    }
    *out_keys = keys;
    return KW_OK;
}
