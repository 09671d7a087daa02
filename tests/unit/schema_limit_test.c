// Schemas at their limits: counts, lengths, memory.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdio.h>
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
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    write_many(text, "foo(", 64, "Tensor x", ") -> ()");
    cr_assert_eq(kw_schema_parse(text, &schema, &err), KW_OK, "%s", err.text);
    cr_expect_eq(schema->arg_count, 64);
    cr_expect_eq(schema->tensor_mask, UINT64_MAX);
    kw_schema_destroy(schema);
    write_many(text, "foo(", 65, "Tensor x", ") -> ()");
    cr_expect_eq(kw_schema_parse(text, &schema, &err), KW_TOO_MANY_ARGUMENTS);
    cr_expect(strstr(err.text, "65 arguments, at most 64") != NULL, "%s", err.text);
    cr_expect_eq(err.position, 4 + 64 * strlen("Tensor x, "), "of the first too many");
    cr_expect_eq(err.status, KW_TOO_MANY_ARGUMENTS);
    write_many(text, "foo(", 65, "Tensor x", ")");
    cr_expect_eq(kw_schema_parse(text, &schema, &err), KW_MALFORMED_SCHEMA, "syntax comes first");
}

Test(schema_limit, return_count_is_bounded_and_both_numbers_are_told)
{
    char text[1024];
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    write_many(text, "foo() -> (", 16, "int", ")");
    cr_assert_eq(kw_schema_parse(text, &schema, &err), KW_OK, "%s", err.text);
    cr_expect_eq(schema->return_count, 16);
    kw_schema_destroy(schema);
    write_many(text, "foo() -> (", 17, "int", ")");
    cr_expect_eq(kw_schema_parse(text, &schema, &err), KW_TOO_MANY_ARGUMENTS);
    cr_expect(strstr(err.text, "17 returns, at most 16") != NULL, "%s", err.text);
    cr_expect_eq(err.position, strlen("foo() -> (") + 16 * strlen("int, "));
}

Test(schema_limit, text_length_is_bounded)
{
    char *text = malloc(KWI_SCHEMA_TEXT_MAX + 2);
    memset(text, ' ', KWI_SCHEMA_TEXT_MAX + 1);
    memcpy(text, "foo() -> ()", 11);
    text[KWI_SCHEMA_TEXT_MAX] = '\0';
    kw_schema *schema = NULL;
    cr_assert_eq(kw_schema_parse(text, &schema, NULL), KW_OK);
    cr_expect_str_eq(kwi_schema_text(schema), "foo() -> ()");
    kw_schema_destroy(schema);
    text[KWI_SCHEMA_TEXT_MAX] = ' ';
    text[KWI_SCHEMA_TEXT_MAX + 1] = '\0';
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_schema_parse(text, &schema, &err), KW_MALFORMED_SCHEMA);
    cr_expect_str_eq(err.text, "at byte 65536: expected the end: no schema is longer");
    cr_expect_eq(err.position, 65536);
    free(text);
}

// A text of the greatest length, all of it the schema's own.
Test(schema_limit, longest_text_is_read_to_its_last_byte)
{
    char *text = malloc(KWI_SCHEMA_TEXT_MAX + 1);
    memset(text, 'y', KWI_SCHEMA_TEXT_MAX + 1);
    memcpy(text, "foo() -> int ", 13);
    kw_schema *schema = NULL;
    cr_assert_eq(kw_schema_parse_bytes(text, KWI_SCHEMA_TEXT_MAX, &schema, NULL), KW_OK);
    cr_expect_eq(kw_schema_return(schema, 0).name.length, KWI_SCHEMA_TEXT_MAX - 13);
    cr_expect_eq(kw_schema_format(schema, NULL, 0), KWI_SCHEMA_TEXT_MAX);
    kw_schema_destroy(schema);
    free(text);
}

// Writes "foo(", `count` times `open`, "int", `count` times `close`, " x) -> ()".
static void write_nested(char *text, int count, const char *open, const char *close)
{
    strcpy(text, "foo(");
    for (int i = 0; i < count; i++) {
        strcat(text, open);
    }
    strcat(text, "int");
    for (int i = 0; i < count; i++) {
        strcat(text, close);
    }
    strcat(text, " x) -> ()");
}

// 31 around one are 32 levels; `position` is where one more fails.
static void expect_depth_bound(const char *open, const char *close, size_t position)
{
    char text[512];
    char printed[512];
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    write_nested(text, 31, open, close);
    cr_assert_eq(kw_schema_parse(text, &schema, &err), KW_OK, "%s", err.text);
    (void)kw_schema_format(schema, printed, sizeof printed);
    cr_expect_str_eq(printed, text);
    cr_expect_eq(kw_schema_compare(schema, schema, NULL, 0), KW_SCHEMA_EQUAL);
    kw_schema_destroy(schema);
    write_nested(text, 32, open, close);
    cr_expect_eq(kw_schema_parse(text, &schema, &err), KW_MALFORMED_SCHEMA, "%s", text);
    cr_expect(strstr(err.text, "nested at most 32 deep") != NULL, "%s", err.text);
    cr_expect_eq(err.position, position, "%zu: %s", position, err.text);
}

Test(schema_limit, nesting_is_bounded)
{
    expect_depth_bound("(", ")", 4 + 32);
    expect_depth_bound("Future(", ")", 4 + 32 * 7);
    expect_depth_bound("Union(", ")", 4 + 32 * 6);
    expect_depth_bound("", "[]", 4 + 3 + 31 * 2);
    expect_depth_bound("Dict(str, ", ")", 4 + 31 * 10 + 5);
}

// Parentheses that never close, and suffixes inside parentheses, find the bound as well.
Test(schema_limit, nesting_is_bounded_before_it_ends)
{
    char text[4096];
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    memset(text, '(', sizeof text);
    memcpy(text, "foo(", 4);
    cr_expect_eq(kw_schema_parse_bytes(text, sizeof text, &schema, &err), KW_MALFORMED_SCHEMA);
    cr_expect_eq(err.position, 4 + 32);
    write_nested(text, 16, "(", "[]?)");
    cr_expect_eq(kw_schema_parse(text, &schema, &err), KW_MALFORMED_SCHEMA);
    cr_expect(strstr(err.text, "nested at most 32 deep") != NULL, "%s", err.text);
}

Test(schema_limit, number_of_types_is_bounded)
{
    char text[4096];
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    write_many(text, "foo((", 510, "int", ") x) -> int");
    cr_assert_eq(kw_schema_parse(text, &schema, &err), KW_OK, "%s", err.text);
    cr_expect_eq(kw_type_child_count(kw_schema_arg(schema, 0).type), 510);
    cr_expect_eq(kw_type_kind_of(kw_type_child(kw_schema_arg(schema, 0).type, 509)), KW_TYPE_INT);
    kw_schema_destroy(schema);
    write_many(text, "foo((", 510, "int", ") x) -> int?");
    cr_expect_eq(kw_schema_parse(text, &schema, &err), KW_MALFORMED_SCHEMA);
    cr_expect(strstr(err.text, "at most 512 types") != NULL, "%s", err.text);
    cr_expect_eq(err.position, strlen(text) - 1);
}

Test(schema_limit, names_of_an_alias_set_are_bounded)
{
    char text[1024];
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    strcpy(text, "foo(Tensor(a");
    for (int i = 0; i < 63; i++) {
        strcat(text, "|a");
    }
    size_t length = strlen(text);
    strcpy(text + length, ") x) -> ()");
    cr_assert_eq(kw_schema_parse(text, &schema, &err), KW_OK, "%s", err.text);
    kw_schema_destroy(schema);
    strcpy(text + length, "|a) x) -> ()");
    cr_expect_eq(kw_schema_parse(text, &schema, &err), KW_MALFORMED_SCHEMA);
    cr_expect(strstr(err.text, "at most 64 names") != NULL, "%s", err.text);
    cr_expect_eq(err.position, length + 1);
}

// A union of many members is sorted in place, without a copy and quickly.
Test(schema_limit, largest_union_keeps_each_member_once, .timeout = 10)
{
    char text[8192];
    kw_schema *schema = NULL;
    strcpy(text, "aten::foo(Union(");
    for (int i = 0; i < 510; i++) {
        snprintf(text + strlen(text), 16, "%st%d", i > 0 ? ", " : "", (i * 7) % 300);
    }
    strcat(text, ") x) -> ()");
    cr_assert_eq(kw_schema_parse(text, &schema, NULL), KW_OK);
    const kw_type *members = kw_schema_arg(schema, 0).type;
    cr_expect_eq(kw_type_child_count(members), 300);
    for (uint32_t i = 1; i < kw_type_child_count(members); i++) {
        cr_expect_lt(kwi_type_order(kw_type_child(members, i - 1), kw_type_child(members, i)), 0);
    }
    kw_schema_destroy(schema);
}

Test(schema_limit, operator_of_ordinary_size_takes_ordinary_memory)
{
    kw_schema *schema = NULL;
    cr_assert_eq(kw_schema_parse("aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, "
                                 "int[2] stride=1, int[2] padding=0, int[2] dilation=1, "
                                 "int groups=1) -> Tensor",
                                 &schema, NULL),
                 KW_OK);
    cr_expect_lt(kwi_schema_bytes(schema), 512);
    kw_schema_destroy(schema);
}

Test(schema_limit, name_length_is_bounded)
{
    char text[KWI_NAME_MAX + 32];
    memset(text, 'x', sizeof text);
    memcpy(text, "a::", 3);
    strcpy(text + KWI_NAME_MAX, "() -> ()");
    kw_schema *schema = NULL;
    cr_assert_eq(kw_schema_parse(text, &schema, NULL), KW_OK);
    cr_expect_eq(strlen(kwi_schema_name(schema)), KWI_NAME_MAX);
    kw_schema_destroy(schema);
    strcpy(text + KWI_NAME_MAX, "x() -> ()");
    text[KWI_NAME_MAX] = 'x';
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_schema_parse(text, &schema, &err), KW_MALFORMED_SCHEMA);
    cr_expect(strstr(err.text, "at byte 0: the operator name is longer than 255 bytes") != NULL,
              "%s", err.text);
}

Test(schema_limit, failed_allocation_is_no_memory)
{
    uint64_t bytes = kwi_memory_bytes();
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    kwi_memory_fail_at(1, false);
    cr_expect_eq(kw_schema_parse("foo() -> ()", &schema, &err), KW_NO_MEMORY);
    cr_expect_eq(err.status, KW_NO_MEMORY);
    cr_expect_null(schema);
    kwi_memory_fail_at(0, false);
    uint64_t count = kwi_memory_count();
    cr_assert_eq(kw_schema_parse("foo() -> ()", &schema, &err), KW_OK);
    cr_expect_eq(kwi_memory_count(), count + 1, "a schema is one block");
    kw_schema_destroy(schema);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}
