// Fuzz target: the schema parser, its printer and its comparison.
//
// Whatever the bytes are: an error has its status, place and sentence, and leaves nothing, and so
// does a failed allocation; a schema takes bounded memory, and prints to a text that parses to an
// equal schema and prints to itself.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include <keyway/schema.h>

#include "base/memory.h"
#include "fuzz/fuzz.h"
#include "fuzz/seeded.h"

// A schema takes memory in proportion to its text; this leaves room for its fixed parts.
#define BYTES_PER_BYTE 64
#define BYTES_FIXED 16384

static char *print(const kw_schema *schema)
{
    size_t length = kw_schema_format(schema, NULL, 0);
    char *text = malloc(length + 1); // exactly: a sanitizer sees a byte too many
    FUZZ_CHECK(text != NULL, "out of memory");
    FUZZ_CHECK(kw_schema_format(schema, text, length + 1) == length, "the length changes");
    FUZZ_CHECK(strlen(text) == length, "%zu bytes, not %zu", strlen(text), length);
    seeded_print(text);
    return text;
}

static kw_schema *parse_again(const char *text)
{
    kw_error err = KW_ERROR_INIT;
    kw_schema *schema = NULL;
    kw_status status = kw_schema_parse(text, &schema, &err);
    FUZZ_CHECK(status == KW_OK, "\"%s\" is printed, but: %s", text, err.text);
    return schema;
}

static void check_equal(const kw_schema *a, const kw_schema *b, const char *text)
{
    char reason[256] = "";
    FUZZ_CHECK(kw_schema_compare(a, b, reason, sizeof reason) == KW_SCHEMA_EQUAL, "\"%s\": %s",
               text, reason);
    FUZZ_CHECK(kw_schema_compare(b, a, NULL, 0) == KW_SCHEMA_EQUAL, "\"%s\": one way", text);
}

static void check_type(const kw_type *type, unsigned depth) // NOLINT(misc-no-recursion): bounded
{
    char text[64];
    FUZZ_CHECK(depth <= 64, "a type nests deeper than the parser allows");
    (void)kw_type_format(type, text, sizeof text);
    FUZZ_CHECK(memchr(text, '\0', sizeof text) != NULL, "a cut text has no end");
    if (kw_type_is_sized(type)) {
        FUZZ_CHECK(kw_type_kind_of(type) == KW_TYPE_LIST, "a size without a list");
    }
    for (uint32_t i = 0; i < kw_type_child_count(type); i++) {
        check_type(kw_type_child(type, i), depth + 1);
    }
}

static void check_parts(const kw_schema *schema)
{
    char code[32];
    FUZZ_CHECK(strlen(kw_schema_name(schema)) >= kw_schema_base_name(schema).length, "the name");
    FUZZ_CHECK(kw_schema_arg_count(schema) <= 64, "too many arguments");
    FUZZ_CHECK(kw_schema_return_count(schema) <= 16, "too many returns");
    for (uint32_t i = 0; i < kw_schema_arg_count(schema); i++) {
        const kw_argument arg = kw_schema_arg(schema, i);
        FUZZ_CHECK(arg.name.length > 0, "an argument without a name");
        FUZZ_CHECK(arg.out == (arg.keyword_only && arg.written), "out");
        bool has_default = kw_schema_default_format(schema, i, code, sizeof code) > 0;
        FUZZ_CHECK(has_default == (arg.default_text.length > 0), "the default of %u", i);
        check_type(arg.type, 0);
    }
    for (uint32_t i = 0; i < kw_schema_return_count(schema); i++) {
        const kw_argument result = kw_schema_return(schema, i);
        FUZZ_CHECK(result.default_text.length == 0, "a return with a default");
        check_type(result.type, 0);
    }
    bool has_dots = kw_schema_is_vararg(schema) || kw_schema_is_varret(schema);
    FUZZ_CHECK((kw_schema_c_signature(schema, code, sizeof code) == 0) == has_dots, "signature");
}

static void check_schema(const kw_schema *schema)
{
    char *text = print(schema);
    kw_schema *again = parse_again(text);
    char *text_again = print(again);
    check_parts(schema);
    check_equal(schema, schema, text);
    check_equal(schema, again, text);
    FUZZ_CHECK(strcmp(text, text_again) == 0, "\"%s\" prints as \"%s\"", text, text_again);
    free(text_again);
    kw_schema_destroy(again);
    free(text);
}

static void check_error(const kw_error *err, kw_status status, size_t size)
{
    static const char expected[] = "at byte ";
    FUZZ_CHECK(err->status == status, "%d is returned, %d in the error", status, err->status);
    FUZZ_CHECK(status == KW_MALFORMED_SCHEMA || status == KW_BAD_OVERLOAD ||
                   status == KW_TOO_MANY_ARGUMENTS || status == KW_SCHEMA_EXPECTED,
               "%s: %s", kw_status_name(status), err->text);
    FUZZ_CHECK(err->position <= size, "byte %" PRIu32 " of %zu: %s", err->position, size,
               err->text);
    FUZZ_CHECK(strncmp(err->text, expected, sizeof expected - 1) == 0 &&
                   strtoul(err->text + sizeof expected - 1, NULL, 10) == err->position,
               "position %" PRIu32 ": %s", err->position, err->text);
}

// Fails each allocation in turn. A text that is malformed may be found to be so before or after it.
static void check_allocations(const uint8_t *data, size_t size, kw_status expected)
{
    kw_status status = KW_NO_MEMORY;
    for (uint64_t nth = 1; status == KW_NO_MEMORY; nth++) {
        kw_schema *schema = NULL;
        kw_error err = KW_ERROR_INIT;
        kwi_memory_fail_at(nth, false);
        status = kw_schema_parse_bytes((const char *)data, size, &schema, &err);
        kwi_memory_fail_at(0, false);
        kw_schema_destroy(schema);
        FUZZ_CHECK(status == KW_NO_MEMORY || status == expected, "%s", err.text);
        FUZZ_CHECK(nth < 100, "every allocation fails");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char other;
    kw_schema *const untouched = (kw_schema *)&other;
    uint64_t before = kwi_memory_bytes();
    kw_schema *schema = untouched;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_schema_parse_bytes((const char *)data, size, &schema, &err);
    if (status == KW_OK) {
        uint64_t taken = kwi_memory_bytes() - before;
        FUZZ_CHECK(taken <= BYTES_PER_BYTE * size + BYTES_FIXED, "%" PRIu64 " bytes", taken);
        check_schema(schema);
        kw_schema_destroy(schema);
    } else {
        FUZZ_CHECK(schema == untouched, "the output is touched");
        check_error(&err, status, size);
    }
    check_allocations(data, size, status);
    FUZZ_CHECK(kwi_memory_bytes() == before, "%" PRIu64 " bytes stay allocated",
               kwi_memory_bytes() - before);
    return 0;
}
