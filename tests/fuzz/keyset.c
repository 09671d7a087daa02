// Fuzz target: key sets as text, the library's form and the expressions of `keyway keyset`.
//
// A set that is accepted prints to a text that gives a set of the same members. Bits that are no
// member, such as a building block without a backend, are not in the text.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <inttypes.h>
#include <string.h>

#include <keyway/keyset.h>

#include "base/memory.h"
#include "cli/expression.h"
#include "fuzz/fuzz.h"

static char *print(kw_keyset keys)
{
    size_t length = kw_keyset_format(keys, NULL, 0);
    char *text = malloc(length + 1);
    FUZZ_CHECK(text != NULL && kw_keyset_format(keys, text, length + 1) == length, "format");
    FUZZ_CHECK(strlen(text) == length, "%zu bytes, not %zu", strlen(text), length);
    return text;
}

static void check_set(const char *text)
{
    kw_keyset keys = kw_keyset_empty();
    kw_keyset again = kw_keyset_empty();
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_keyset_parse(text, &keys, &err);
    if (status != KW_OK) {
        FUZZ_CHECK(err.status == status && err.text[0] != '\0', "no sentence");
        FUZZ_CHECK(keys.bits == 0, "the output is touched");
        return;
    }
    char *printed = print(keys);
    FUZZ_CHECK(kw_keyset_parse(printed, &again, &err) == KW_OK, "%s: %s", printed, err.text);
    FUZZ_CHECK((again.bits & ~keys.bits) == 0, "0x%" PRIx64 " prints as %s, 0x%" PRIx64, keys.bits,
               printed, again.bits);
    char *printed_again = print(again);
    FUZZ_CHECK(strcmp(printed, printed_again) == 0, "%s, then %s", printed, printed_again);
    free(printed_again);
    free(printed);
}

static void check_expression(const char *text)
{
    kw_keyset keys = kw_keyset_empty();
    kw_keyset again = kw_keyset_empty();
    kw_error err = KW_ERROR_INIT;
    if (cli_expression_evaluate(text, &keys, &err) != KW_OK) {
        FUZZ_CHECK(err.text[0] != '\0', "no sentence");
        return;
    }
    char bits[32];
    (void)snprintf(bits, sizeof bits, "0x%" PRIx64, keys.bits);
    FUZZ_CHECK(cli_expression_evaluate(bits, &again, &err) == KW_OK, "%s: %s", bits, err.text);
    FUZZ_CHECK(again.bits == keys.bits, "%s is 0x%" PRIx64, bits, again.bits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t before = kwi_memory_bytes();
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL, "out of memory");
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    check_set(text);
    check_expression(text);
    free(text);
    FUZZ_CHECK(kwi_memory_bytes() == before, "something stays allocated");
    return 0;
}
