// The schema parser on declarations that are data: valid.txt and malformed.txt.
//
//     unit_schema_data VALID MALFORMED
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <keyway/schema.h>

#include "base/memory.h"
#include "schema/rows.h"

// A file that has lost most of its rows is no test.
#define VALID_MIN 300
#define MALFORMED_MIN 200

// A schema takes memory in proportion to its text; this leaves room for its fixed parts.
#define BYTES_PER_BYTE 64
#define BYTES_FIXED 16384

static unsigned failures;

static void fail(const schema_row *row, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void fail(const schema_row *row, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%u: ", row->file, row->line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    failures++;
}

static char *format_schema(const kw_schema *schema)
{
    size_t length = kw_schema_format(schema, NULL, 0);
    char *text = malloc(length + 1);
    if (text == NULL || kw_schema_format(schema, text, length + 1) != length) {
        abort();
    }
    return text;
}

// Parses what the schema prints; that must be equal, and print to itself.
static void check_print(const schema_row *row, const kw_schema *schema)
{
    char *printed = format_schema(schema);
    kw_schema *again = NULL;
    kw_error err = KW_ERROR_INIT;
    char reason[256] = "";
    if (row->expected != NULL && strcmp(printed, row->expected) != 0) {
        fail(row, "prints %s", printed);
    }
    if (kw_schema_parse(printed, &again, &err) != KW_OK) {
        fail(row, "prints %s, which does not parse: %s", printed, err.text);
        free(printed);
        return;
    }
    if (kw_schema_compare(schema, again, reason, sizeof reason) != KW_SCHEMA_EQUAL) {
        fail(row, "prints %s, which is another schema: %s", printed, reason);
    }
    char *printed_again = format_schema(again);
    if (strcmp(printed, printed_again) != 0) {
        fail(row, "prints %s, and that %s", printed, printed_again);
    }
    free(printed_again);
    kw_schema_destroy(again);
    free(printed);
}

static void check_valid(const schema_row *row)
{
    uint64_t before = kwi_memory_bytes();
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_schema_parse_bytes(row->text, row->length, &schema, &err);
    if (status != KW_OK) {
        fail(row, "%s: %s", kw_status_name(status), err.text);
        return;
    }
    if (kwi_memory_bytes() - before > BYTES_PER_BYTE * row->length + BYTES_FIXED) {
        fail(row, "takes %" PRIu64 " bytes of memory", kwi_memory_bytes() - before);
    }
    char reason[256] = "";
    if (kw_schema_compare(schema, schema, reason, sizeof reason) != KW_SCHEMA_EQUAL) {
        fail(row, "is not equal to itself: %s", reason);
    }
    check_print(row, schema);
    kw_schema_destroy(schema);
    if (kwi_memory_bytes() != before) {
        fail(row, "%" PRIu64 " bytes stay allocated", kwi_memory_bytes() - before);
    }
}

// Splits "KW_STATUS: piece"; without a status it is KW_MALFORMED_SCHEMA.
static const char *split_expected(const char *expected, char status[64])
{
    const char *piece = strstr(expected, ": ");
    size_t length = piece != NULL ? (size_t)(piece - expected) : 0;
    if (strncmp(expected, "KW_", 3) != 0 || length == 0 || length >= 64) {
        strcpy(status, "KW_MALFORMED_SCHEMA");
        return expected;
    }
    memcpy(status, expected, length);
    status[length] = '\0';
    return piece + 2;
}

static void check_error(const schema_row *row, kw_status status, const kw_error *err)
{
    char expected[64];
    const char *piece = split_expected(row->expected, expected);
    if (strcmp(kw_status_name(status), expected) != 0) {
        fail(row, "%s: %s", kw_status_name(status), err->text);
    }
    if (err->status != status) {
        fail(row, "returns %s, and the error has %s", kw_status_name(status),
             kw_status_name(err->status));
    }
    if (row->mark != ROW_NOT_MARKED && err->position != row->mark) {
        fail(row, "position %" PRIu32 ", not %zu: %s", err->position, row->mark, err->text);
    }
    char place[32];
    (void)snprintf(place, sizeof place, "at byte %" PRIu32 ": ", err->position);
    if (strstr(err->text, place) == NULL) {
        fail(row, "\"%s\" is not in: %s", place, err->text);
    }
    if (strstr(err->text, piece) == NULL) {
        fail(row, "\"%s\" is not in: %s", piece, err->text);
    }
}

static void check_malformed(const schema_row *row)
{
    uint64_t before = kwi_memory_bytes();
    kw_schema *const untouched = (kw_schema *)&before;
    kw_schema *schema = untouched;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_schema_parse_bytes(row->text, row->length, &schema, &err);
    if (status == KW_OK) {
        fail(row, "parses");
        kw_schema_destroy(schema);
        return;
    }
    if (row->expected == NULL || row->mark == ROW_NOT_MARKED) {
        fail(row, "lacks its mark, or the line with the piece of the sentence: %s", err.text);
    } else {
        check_error(row, status, &err);
    }
    if (schema != untouched) {
        fail(row, "the output is touched");
    }
    if (kwi_memory_bytes() != before) {
        fail(row, "%" PRIu64 " bytes stay allocated", kwi_memory_bytes() - before);
    }
    if (kw_schema_parse_bytes(row->text, row->length, &schema, NULL) != status) {
        fail(row, "another status without an error to fill");
    }
}

static unsigned check_file(const char *name, bool marks, void (*check)(const schema_row *row))
{
    FILE *file = fopen(name, "rb");
    if (file == NULL) {
        perror(name);
        exit(2);
    }
    unsigned count = 0;
    for (schema_row row; row_next(file, name, marks, &row); row_fini(&row)) {
        check(&row);
        count++;
    }
    (void)fclose(file);
    return count;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s VALID MALFORMED\n", argv[0]);
        return 2;
    }
    unsigned valid = check_file(argv[1], false, check_valid);
    unsigned malformed = check_file(argv[2], true, check_malformed);
    printf("%u valid and %u malformed declarations, %u failures\n", valid, malformed, failures);
    return failures > 0 || valid < VALID_MIN || malformed < MALFORMED_MIN ? 1 : 0;
}
