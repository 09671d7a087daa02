// Key sets as text: format, parse, and the errors with their positions.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include <keyway/key.h>
#include <keyway/keyset.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// The full set takes about 2200 bytes.
#define FULL_TEXT_BYTES 4096

static void expect_format(kw_keyset keys, const char *expected)
{
    char buffer[FULL_TEXT_BYTES];
    size_t length = kw_keyset_format(keys, buffer, sizeof buffer);
    cr_expect_str_eq(buffer, expected);
    cr_expect_eq(length, strlen(expected));
}

Test(keyset_text, format_is_pytorchs)
{
    kw_keyset cpu = kw_keyset_from_key(KW_KEY_CPU);
    expect_format(kw_keyset_empty(), "DispatchKeySet()");
    expect_format(cpu, "DispatchKeySet(CPU)");
    expect_format(kw_keyset_add(cpu, KW_KEY_AutogradCPU), "DispatchKeySet(CPU, AutogradCPU)");
    expect_format(kw_keyset_add(cpu, KW_KEY_SparseCUDA),
                  "DispatchKeySet(CPU, CUDA, SparseCPU, SparseCUDA)");
    expect_format(kw_keyset_from_bits(0x3), "DispatchKeySet()");
    expect_format(kw_keyset_from_key(KW_KEY_Dense), "DispatchKeySet()");
    expect_format(kw_keyset_default_included(), "DispatchKeySet(BackendSelect, ADInplaceOrView)");
}

Test(keyset_text, format_cuts_at_the_buffers_end)
{
    const char *whole = "DispatchKeySet(CPU, AutogradCPU)";
    kw_keyset keys = kw_keyset_from_bits(0x2000010001);
    cr_expect_eq(kw_keyset_format(keys, NULL, 0), strlen(whole));
    for (size_t size = 1; size <= strlen(whole) + 1; size++) {
        char buffer[64];
        memset(buffer, '#', sizeof buffer);
        cr_expect_eq(kw_keyset_format(keys, buffer, size), strlen(whole));
        cr_expect_eq(strlen(buffer), size - 1);
        for (size_t i = size; i < sizeof buffer; i++) {
            cr_expect_eq(buffer[i], '#', "byte %zu written with size %zu", i, size);
        }
        size_t kept = size > 4 ? size - 4 : 0;
        cr_expect_eq(memcmp(buffer, whole, kept), 0);
        cr_expect(size < 4 || size > strlen(whole) || strcmp(buffer + kept, "...") == 0);
    }
}

typedef struct text_row {
    const char *text;
    uint64_t bits;
} text_row;

Test(keyset_text, every_form_parses)
{
    static const text_row rows[] = {
        {"DispatchKeySet()", 0},
        {"DispatchKeySet( )", 0},
        {"{}", 0},
        {" { } ", 0},
        {"CPU", 0x10001},
        {"{CPU}", 0x10001},
        {"DispatchKeySet(CPU, AutogradCPU)", 0x2000010001},
        {" DispatchKeySet (\tCPU ,AutogradCPU\n) ", 0x2000010001},
        {"{CPU, AutogradCPU}", 0x2000010001},
        {"{CPU|AutogradCPU}", 0x2000010001},
        {"CPU, AutogradCPU", 0x2000010001},
        {"CPU|AutogradCPU", 0x2000010001},
        {"CPU | CPU , AutogradCPU", 0x2000010001},
        {"CPU, SparseCUDA", 0x810003},
        {"Dense", 0x10000},
        {"Undefined", 0},
        {"CPU, CatchAll, Autocast", 0x1000000010001},
        {"TESTING_ONLY_GenericMode", 0x1000000000000000},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        kw_keyset keys = kw_keyset_full();
        kw_error err = KW_ERROR_INIT;
        cr_expect_eq(kw_keyset_parse(rows[i].text, &keys, &err), KW_OK, "'%s': %s", rows[i].text,
                     err.text);
        cr_expect_eq(keys.bits, rows[i].bits, "'%s'", rows[i].text);
    }
}

Test(keyset_text, formatted_runtime_sets_parse_back)
{
    for (kw_key key = 0; key < KW_KEY_LIMIT; key++) {
        kw_keyset keys = kw_key_runtime_set(key);
        char buffer[FULL_TEXT_BYTES];
        kw_keyset parsed = kw_keyset_full();
        cr_expect_lt(kw_keyset_format(keys, buffer, sizeof buffer), sizeof buffer);
        cr_expect_eq(kw_keyset_parse(buffer, &parsed, NULL), KW_OK, "%s", buffer);
        cr_expect(kw_keyset_equal(parsed, keys), "%s", buffer);
    }
    char buffer[FULL_TEXT_BYTES];
    kw_keyset parsed = kw_keyset_empty();
    cr_expect_lt(kw_keyset_format(kw_keyset_full(), buffer, sizeof buffer), sizeof buffer);
    cr_expect_eq(kw_keyset_parse(buffer, &parsed, NULL), KW_OK);
    cr_expect(kw_keyset_equal(parsed, kw_keyset_full()));
}

typedef struct error_row {
    const char *text;
    kw_status status;
    const char *sentence;
} error_row;

Test(keyset_text, errors_name_position_and_cause)
{
    static const error_row rows[] = {
        {"", KW_INVALID_ARGUMENT,
         "at position 0: the text ends where the name of a key should follow"},
        {"  ", KW_INVALID_ARGUMENT,
         "at position 2: the text ends where the name of a key should follow"},
        {"CPU,", KW_INVALID_ARGUMENT,
         "at position 4: the text ends where the name of a key should follow"},
        {"{CPU,}", KW_INVALID_ARGUMENT, "at position 5: '}' found instead of the name of a key"},
        {"CPU,,CUDA", KW_INVALID_ARGUMENT, "at position 4: ',' found instead of the name of a key"},
        {"CPU CUDA", KW_INVALID_ARGUMENT, "at position 4: 'C' found instead of ',' or '|'"},
        {"CPU)", KW_INVALID_ARGUMENT, "at position 3: ')' found instead of ',' or '|'"},
        {"{CPU", KW_INVALID_ARGUMENT,
         "at position 4: the text ends where ',', '|' or '}' should follow"},
        {"{CPU)", KW_INVALID_ARGUMENT, "at position 4: ')' found instead of ',', '|' or '}'"},
        {"DispatchKeySet(CPU}", KW_INVALID_ARGUMENT,
         "at position 18: '}' found instead of ',', '|' or ')'"},
        {"DispatchKeySet", KW_INVALID_ARGUMENT,
         "at position 14: the text ends where '(' should follow"},
        {"{CPU} CUDA", KW_INVALID_ARGUMENT,
         "at position 6: 'C' found instead of the end of the text"},
        {"CPU, cuda", KW_UNKNOWN_KEY,
         "at position 5: no dispatch key is called 'cuda'; did you mean 'CUDA'?"},
        {"CPU, Nonsense", KW_UNKNOWN_KEY, "at position 5: no dispatch key is called 'Nonsense'"},
        {"{CPU | Autograd}", KW_INVALID_ARGUMENT,
         "at position 7: Autograd is an alias key and owns no bit of a key set; use its runtime "
         "set, which kw_key_runtime_set() returns"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        kw_keyset keys = kw_keyset_full();
        kw_error err = KW_ERROR_INIT;
        cr_expect_eq(kw_keyset_parse(rows[i].text, &keys, &err), rows[i].status, "'%s'",
                     rows[i].text);
        cr_expect_eq(err.status, rows[i].status, "'%s'", rows[i].text);
        cr_expect_str_eq(err.text, rows[i].sentence);
        cr_expect(kw_keyset_equal(keys, kw_keyset_full()), "the output is untouched");
        cr_expect_eq(kw_keyset_parse(rows[i].text, &keys, NULL), rows[i].status);
    }
}

Test(keyset_text, null_is_an_invalid_argument)
{
    kw_keyset keys;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_keyset_parse(NULL, &keys, &err), KW_INVALID_ARGUMENT);
    cr_expect_str_eq(err.text, "kw_keyset_parse: text is NULL");
    cr_expect_eq(kw_keyset_parse("{}", NULL, &err), KW_INVALID_ARGUMENT);
    cr_expect_str_eq(err.text, "kw_keyset_parse: out_keys is NULL");
}
