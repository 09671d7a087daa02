// Defaults of arguments as owned values.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include <keyway/schema.h>
#include <keyway/value.h>

#include "base/memory.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// The schema of an operator with this one argument.
static kw_schema *parse(const char *argument)
{
    char text[256];
    snprintf(text, sizeof text, "t::f(%s) -> ()", argument);
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kw_schema_parse(text, &schema, &err), KW_OK, "%s: %s", text, err.text);
    return schema;
}

static void expect_default(const char *argument, kw_value expected)
{
    uint64_t bytes = kwi_memory_bytes();
    kw_schema *schema = parse(argument);
    kw_value value = kw_value_none();
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kw_value_default(schema, 0, &value, &err), KW_OK, "%s: %s", argument, err.text);
    kw_schema_destroy(schema);
    cr_expect(kw_value_equal(&value, &expected), "%s gives %s", argument, kw_tag_name(value.tag));
    cr_expect_eq(value.flags, value.tag >= KW_TAG_POINTER ? KW_VALUE_COUNTED : 0, "%s", argument);
    kw_value_release(&value, NULL);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}

Test(value_default, constants_are_values)
{
    const kw_complex imaginary = {0, 2.5};
    expect_default("int x=-3", kw_value_int(-3));
    expect_default("SymInt x=3", kw_value_int(3));
    expect_default("float x=3", kw_value_float(3));
    expect_default("bool x=True", kw_value_bool(true));
    expect_default("bool x=False", kw_value_bool(false));
    expect_default("str x='a\\nb'", kw_value_string("a\nb"));
    expect_default("str x=\"\"", kw_value_string(""));
    expect_default("complex x=2.5j", kw_value_complex(&imaginary));
    expect_default("Scalar x=2.5j", kw_value_complex(&imaginary));
    expect_default("Scalar x=1", kw_value_int(1));
    expect_default("Tensor? x=None", kw_value_none());
    expect_default("ScalarType x=float", kw_value_int(6));
    expect_default("int x=Mean", kw_value_int(1));
    expect_default("Device x='cuda:1'", kw_value_device((kw_device){1, 1}));
    expect_default("Device x='cpu'", kw_value_device((kw_device){0, -1}));
}

Test(value_default, optional_takes_its_constant_as_written)
{
    expect_default("int? x=None", kw_value_none());
    expect_default("float? x=3", kw_value_int(3));
    expect_default("Device? x='cpu'", kw_value_string("cpu"));
    expect_default("int[2]? x=1", kw_value_int(1));
}

Test(value_default, lists_are_lists_of_their_elements)
{
    const int64_t ints[] = {1, -2, 3};
    const int64_t ones[] = {1, 1};
    const double floats[] = {0.5, 2};
    const bool bools[] = {true, false};
    const kw_complex numbers[] = {{0, 1}, {0, -2}};
    const kw_value complexes[] = {kw_value_complex(&numbers[0]), kw_value_complex(&numbers[1])};
    const kw_value twice[] = {complexes[0], complexes[0]};
    expect_default("int[] x=[1, -2, 3]", kw_value_ints((kw_int_list){ints, 3}));
    expect_default("SymInt[] x=[1, -2, 3]", kw_value_ints((kw_int_list){ints, 3}));
    expect_default("int[] x=[]", kw_value_ints((kw_int_list){NULL, 0}));
    expect_default("int[2] x=1", kw_value_ints((kw_int_list){ones, 2}));
    expect_default("SymInt[2] x=1", kw_value_ints((kw_int_list){ones, 2}));
    expect_default("int[0] x=1", kw_value_ints((kw_int_list){NULL, 0}));
    expect_default("float[] x=[0.5, 2]", kw_value_floats((kw_float_list){floats, 2}));
    expect_default("bool[] x=[True, False]", kw_value_bools((kw_bool_list){bools, 2}));
    expect_default("complex[] x=[1j, -2j]", kw_value_values((kw_value_list){complexes, 2}));
    expect_default("complex[2] x=1j", kw_value_values((kw_value_list){twice, 2}));
}

Test(value_default, longest_list_that_is_made_has_a_limit)
{
    kw_value value = kw_value_none();
    kw_error err = KW_ERROR_INIT;
    kw_schema *schema = parse("int[65536] x=0");
    cr_expect_eq(kw_value_default(schema, 0, &value, &err), KW_OK);
    cr_expect_eq(value.count, 65536);
    kw_value_release(&value, NULL);
    kw_schema_destroy(schema);
    schema = parse("int[4294967295] x=0");
    cr_expect_eq(kw_value_default(schema, 0, &value, &err), KW_NOT_SUPPORTED);
    cr_expect_not_null(strstr(err.text, "4294967295"), "%s", err.text);
    cr_expect_eq(value.tag, KW_TAG_NONE);
    kw_schema_destroy(schema);
}

Test(value_default, argument_without_one_is_not_found)
{
    kw_value value = kw_value_int(5);
    kw_error err = KW_ERROR_INIT;
    kw_schema *schema = parse("int x");
    cr_expect_eq(kw_value_default(schema, 0, &value, &err), KW_NOT_FOUND);
    cr_expect_not_null(strstr(err.text, "argument 1 of `t::f(int x)"), "%s", err.text);
    cr_expect_eq(kw_value_default(schema, 1, &value, &err), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_value_default(schema, 0, NULL, &err), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_value_default(NULL, 0, &value, &err), KW_INVALID_ARGUMENT);
    cr_expect_eq(value.as.as_int, 5);
    kw_schema_destroy(schema);
}

Test(value_default, failed_allocation_leaves_nothing)
{
    static const char *const arguments[] = {"str x='a'", "complex x=1j", "int[] x=[1]",
                                            "complex[] x=[1j, 2j]"};
    static const uint64_t allocations[] = {1, 1, 1, 3};
    for (size_t i = 0; i < COUNT(arguments); i++) {
        kw_schema *schema = parse(arguments[i]);
        uint64_t bytes = kwi_memory_bytes();
        for (uint64_t nth = 1; nth <= allocations[i]; nth++) {
            kw_value value = kw_value_int(5);
            kw_error err = KW_ERROR_INIT;
            kwi_memory_fail_at(nth, false);
            cr_expect_eq(kw_value_default(schema, 0, &value, &err), KW_NO_MEMORY);
            kwi_memory_fail_at(0, false);
            cr_expect_eq(value.as.as_int, 5);
            cr_expect_eq(kwi_memory_bytes(), bytes);
        }
        kw_schema_destroy(schema);
    }
}
