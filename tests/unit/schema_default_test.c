// Defaults of schemas: the constants that values are made of.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "schema/default.h"
#include "schema/schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static kw_schema *parse(const char *text)
{
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kw_schema_parse(text, &schema, &err), KW_OK, "%s\n  %s", text, err.text);
    return schema;
}

static void describe_string(const kwi_constant *constant, kwi_text *text)
{
    char bytes[32];
    size_t length = kwi_constant_string(constant, bytes, sizeof bytes);
    cr_assert_leq(length, sizeof bytes);
    kwi_text_add(text, "string:");
    for (size_t i = 0; i < length; i++) {
        kwi_text_add(text, bytes[i] >= ' ' && bytes[i] <= '~' ? "%c" : "<%02x>",
                     (unsigned char)bytes[i]);
    }
}

static void describe(const kwi_constant *constant, kwi_text *text)
{
    switch (constant->kind) {
    case KWI_CONSTANT_NONE:
        kwi_text_add(text, "none");
        break;
    case KWI_CONSTANT_BOOL:
        kwi_text_add(text, "bool:%d", constant->as_bool);
        break;
    case KWI_CONSTANT_INT:
        kwi_text_add(text, "int:%" PRId64, constant->as_int);
        break;
    case KWI_CONSTANT_FLOAT:
        kwi_text_add(text, "float:%g", constant->as_float);
        break;
    case KWI_CONSTANT_COMPLEX:
        kwi_text_add(text, "imaginary:%g", constant->as_float);
        break;
    case KWI_CONSTANT_STRING:
        describe_string(constant, text);
        break;
    case KWI_CONSTANT_DEVICE:
        kwi_text_add(text, "device:%d/%d", (int)constant->as_device.type,
                     (int)constant->as_device.index);
        break;
    }
}

typedef struct default_row {
    const char *argument; // without its name
    const char *constants;
} default_row;

static const default_row rows[] = {
    {"int x=1", "int:1"},
    {"int x=- 1", "int:-1"},
    {"int x=-\n1", "int:-1"},
    {"int[] x=[1\n,# one\n-\n2]", "2[int:1 int:-2]"},
    {"int x=007", "int:7"},
    {"int x=-9223372036854775808", "int:-9223372036854775808"},
    {"int x=1e3", "float:1000"},
    {"int x=1.5", "float:1.5"},
    {"int x=2j", "imaginary:2"},
    {"int x=None", "none"},
    {"int x=Mean", "int:1"},
    {"int x='a'", "string:a"},
    {"float x=3", "float:3"},
    {"float x=-3", "float:-3"},
    {"float x=-0", "float:-0"},
    {"float x=9223372036854775808", "float:9.22337e+18"},
    {"float x=True", "bool:1"},
    {"float x=Mean", "int:1"},
    {"bool x=False", "bool:0"},
    {"bool x=1", "int:1"},
    {"complex x=-2.5j", "imaginary:-2.5"},
    {"complex x=None", "none"},
    {"Scalar x=1", "int:1"},
    {"Scalar x=1.", "float:1"},
    {"Scalar x=True", "bool:1"},
    {"SymInt x=-3", "int:-3"},
    {"ScalarType x=float", "int:6"},
    {"ScalarType x=half", "int:5"},
    {"ScalarType x=float4_e2m1fn_x2", "int:45"},
    {"ScalarType? x=int32", "int:3"},
    {"Layout x=strided", "int:0"},
    {"DeviceIndex x=-1", "int:-1"},
    {"str x=\"\"", "string:"},
    {"str x='a\\n\\101\\000\\377\\'\"'", "string:a<0a>A<00><ff>'\""},
    {"str x='''a'b\n''c'''", "string:a'b<0a>''c"},
    {"str x='\xc3\xa9'", "string:<c3><a9>"},
    {"str x=5", "int:5"},
    {"Device x='cpu'", "device:0/-1"},
    {"Device x='cuda:12'", "device:1/12"},
    {"Device x='meta:0'", "device:14/0"},
    {"Device x='privateuseone:3'", "device:20/3"},
    {"Device? x='cuda:0'", "string:cuda:0"},
    {"Tensor x=None", "none"},
    {"Generator? x=None", "none"},
    {"float? x=3", "int:3"},
    {"int[2]? x=1", "int:1"},
    {"(int, int)? x=None", "none"},
    {"int[] x=[]", "2[]"},
    {"int[] x=[1, -2,Mean , 3]", "2[int:1 int:-2 int:1 int:3]"},
    {"int[3] x=7", "2[int:7 int:7 int:7]"},
    {"int[3] x=-7", "2[int:-7 int:-7 int:-7]"},
    {"int[3] x=[7]", "2[int:7]"},
    {"int[0] x=7", "2[]"},
    {"SymInt[2] x=7", "2[int:7 int:7]"},
    {"ScalarType[] x=[bool, float]", "2[int:11 int:6]"},
    {"float[] x=[1, -2.5]", "3[float:1 float:-2.5]"},
    {"float[2] x=1", "3[float:1 float:1]"},
    {"bool[2] x=True", "4[bool:1 bool:1]"},
    {"bool[] x=[True, False]", "4[bool:1 bool:0]"},
    {"complex[] x=[1j, - 2j]", "6[imaginary:1 imaginary:-2]"},
};

static void describe_default(const kw_schema *schema, uint32_t index, kwi_text *text)
{
    kwi_default reader;
    cr_assert(kwi_default_open(schema, index, &reader));
    if (reader.is_list) {
        kwi_text_add(text, "%d[", (int)reader.element);
    }
    cr_assert(reader.is_list || reader.count == 1);
    for (uint32_t i = 0; i < reader.count; i++) {
        const kwi_constant constant = kwi_default_next(&reader);
        kwi_text_add(text, "%s", i > 0 ? " " : "");
        describe(&constant, text);
    }
    kwi_text_add(text, "%s", reader.is_list ? "]" : "");
}

Test(schema_default, constants_are_read_as_the_type_asks)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128];
        char constants[128];
        kwi_text builder;
        snprintf(text, sizeof text, "foo(Tensor a, *, %s) -> ()", rows[i].argument);
        kwi_text_init(&builder, constants, sizeof constants);
        kw_schema *schema = parse(text);
        describe_default(schema, 1, &builder);
        cr_expect_str_eq(constants, rows[i].constants, "%s", rows[i].argument);
        kw_schema_destroy(schema);
    }
}

Test(schema_default, argument_without_default_has_no_reader)
{
    kwi_default reader = {.count = 99};
    kw_schema *schema = parse("foo(Tensor a, int b=1) -> ()");
    cr_expect(!kwi_default_open(schema, 0, &reader));
    cr_expect_eq(reader.count, 99, "untouched");
    cr_expect(kwi_default_open(schema, 1, &reader));
    kw_schema_destroy(schema);
}

Test(schema_default, repeated_constant_is_counted_and_not_stored)
{
    kwi_default reader;
    kw_schema *schema = parse("foo(int[4294967295] b=5) -> ()");
    cr_assert(kwi_default_open(schema, 0, &reader));
    cr_expect_eq(reader.count, UINT32_MAX);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(kwi_default_next(&reader).as_int, 5);
    }
    kw_schema_destroy(schema);
}

Test(schema_default, string_is_written_as_far_as_it_fits)
{
    kwi_default reader;
    char buffer[4] = "----";
    kw_schema *schema = parse("foo(str b='ab\\ncd') -> ()");
    cr_assert(kwi_default_open(schema, 0, &reader));
    const kwi_constant constant = kwi_default_next(&reader);
    cr_expect_eq(kwi_constant_string(&constant, NULL, 0), 5);
    cr_expect_eq(kwi_constant_string(&constant, buffer, 3), 5);
    cr_expect_eq(memcmp(buffer, "ab\n-", 4), 0);
    kw_schema_destroy(schema);
}

// What is printed reads back to the same constants.
Test(schema_default, printed_default_has_the_same_constants)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128];
        char printed[128];
        char reason[128];
        snprintf(text, sizeof text, "foo(%s) -> ()", rows[i].argument);
        kw_schema *schema = parse(text);
        (void)kw_schema_format(schema, printed, sizeof printed);
        kw_schema *again = parse(printed);
        cr_expect(kw_schema_compare(schema, again, reason, sizeof reason) == KW_SCHEMA_EQUAL,
                  "%s: %s: %s", text, printed, reason);
        kw_schema_destroy(again);
        kw_schema_destroy(schema);
    }
}
