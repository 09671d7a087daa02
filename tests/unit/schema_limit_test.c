// Schemas at their limits: counts, lengths, memory.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "schema/schema.h"

// Writes "foo(" and `count` of `item`, separated by commas, and `end`.
static void write_many(char *text, const char *start, int count, const char *item, const char *end)
{
    strcpy(text, start);
    for (int i = 0; i < count; i++) {
        strcat(text, i > 0 ? ", " : "");
        strcat(text, item);
    }
    strcat(text, end);
}

Test(schema_limit, argument_count_is_bounded_and_both_numbers_are_told)
{
    char text[2048];
    kwi_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    write_many(text, "foo(", 64, "Tensor x", ") -> ()");
    cr_assert_eq(kwi_schema_parse(text, &schema, &err), KW_OK, "%s", err.text);
    cr_expect_eq(schema->arg_count, 64);
    cr_expect_eq(schema->tensor_mask, UINT64_MAX);
    kwi_schema_destroy(schema);
    write_many(text, "foo(", 65, "Tensor x", ") -> ()");
    cr_expect_eq(kwi_schema_parse(text, &schema, &err), KW_TOO_MANY_ARGUMENTS);
    cr_expect(strstr(err.text, "65 arguments") != NULL && strstr(err.text, "64") != NULL, "%s",
              err.text);
    write_many(text, "foo(", 65, "Tensor x", ")");
    cr_expect_eq(kwi_schema_parse(text, &schema, &err), KW_MALFORMED_SCHEMA, "syntax comes first");
}

Test(schema_limit, return_count_is_bounded_and_both_numbers_are_told)
{
    char text[1024];
    kwi_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    write_many(text, "foo() -> (", 16, "int", ")");
    cr_assert_eq(kwi_schema_parse(text, &schema, &err), KW_OK, "%s", err.text);
    cr_expect_eq(schema->return_count, 16);
    kwi_schema_destroy(schema);
    write_many(text, "foo() -> (", 17, "int", ")");
    cr_expect_eq(kwi_schema_parse(text, &schema, &err), KW_TOO_MANY_ARGUMENTS);
    cr_expect(strstr(err.text, "17 returns") != NULL && strstr(err.text, "16") != NULL, "%s",
              err.text);
}

Test(schema_limit, text_length_is_bounded)
{
    char *text = malloc(KWI_SCHEMA_TEXT_MAX + 2);
    memset(text, ' ', KWI_SCHEMA_TEXT_MAX + 1);
    memcpy(text, "foo() -> ()", 11);
    text[KWI_SCHEMA_TEXT_MAX] = '\0';
    kwi_schema *schema = NULL;
    cr_assert_eq(kwi_schema_parse(text, &schema, NULL), KW_OK);
    cr_expect_str_eq(schema->text, "foo() -> ()");
    kwi_schema_destroy(schema);
    text[KWI_SCHEMA_TEXT_MAX] = ' ';
    text[KWI_SCHEMA_TEXT_MAX + 1] = '\0';
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kwi_schema_parse(text, &schema, &err), KW_MALFORMED_SCHEMA);
    cr_expect_str_eq(err.text, "at byte 65536: expected the end: no schema is longer");
    free(text);
}

Test(schema_limit, name_length_is_bounded)
{
    char text[KWI_NAME_MAX + 32];
    memset(text, 'x', sizeof text);
    memcpy(text, "a::", 3);
    strcpy(text + KWI_NAME_MAX, "() -> ()");
    kwi_schema *schema = NULL;
    cr_assert_eq(kwi_schema_parse(text, &schema, NULL), KW_OK);
    cr_expect_eq(strlen(schema->name), KWI_NAME_MAX);
    kwi_schema_destroy(schema);
    strcpy(text + KWI_NAME_MAX, "x() -> ()");
    text[KWI_NAME_MAX] = 'x';
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kwi_schema_parse(text, &schema, &err), KW_MALFORMED_SCHEMA);
    cr_expect(strstr(err.text, "at byte 0: the operator name is longer than 255 bytes") != NULL,
              "%s", err.text);
}

Test(schema_limit, failed_allocation_is_no_memory)
{
    uint64_t bytes = kwi_memory_bytes();
    kwi_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    kwi_memory_fail_at(1, false);
    cr_expect_eq(kwi_schema_parse("foo() -> ()", &schema, &err), KW_NO_MEMORY);
    cr_expect_eq(err.status, KW_NO_MEMORY);
    cr_expect_null(schema);
    kwi_memory_fail_at(0, false);
    uint64_t count = kwi_memory_count();
    cr_assert_eq(kwi_schema_parse("foo() -> ()", &schema, &err), KW_OK);
    cr_expect_eq(kwi_memory_count(), count + 1, "a schema is one block");
    kwi_schema_destroy(schema);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}
