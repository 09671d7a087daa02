// Numbers of the schema language: limits, rounding, and independence of the locale.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <float.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "schema/constant.h"
#include "schema/number.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct integer_row {
    const char *text;
    bool negative;
    bool fits;
    int64_t value;
} integer_row;

static const integer_row integers[] = {
    {"0", false, true, 0},
    {"0", true, true, 0},
    {"7", false, true, 7},
    {"007", false, true, 7},
    {"42", true, true, -42},
    {"9223372036854775807", false, true, INT64_MAX},
    {"9223372036854775807", true, true, -INT64_MAX},
    {"9223372036854775808", true, true, INT64_MIN},
    {"9223372036854775808", false, false, 0},
    {"9223372036854775809", true, false, 0},
    {"18446744073709551616", false, false, 0},
    {"99999999999999999999999999", true, false, 0},
    {"0000000000000000000000000000001", false, true, 1},
};

Test(schema_number, integer_is_exact_or_refused)
{
    for (size_t i = 0; i < COUNT(integers); i++) {
        const integer_row *row = &integers[i];
        int64_t value = -1;
        bool fits = kwi_number_integer(row->text, strlen(row->text), row->negative, &value);
        cr_expect_eq(fits, row->fits, "%s", row->text);
        cr_expect_eq(value, row->fits ? row->value : -1, "%s", row->text);
    }
}

static const char *const doubles[] = {
    "0",
    "0.0",
    "0e5",
    "1",
    "1.",
    ".5",
    "1.5",
    "007.25",
    "1e3",
    "1E3",
    "1e+3",
    "1e-3",
    "12e0",
    "0.1",
    "3.14159265358979323846",
    "1e308",
    "1e-308",
    "4.9406564584124654e-324",
    "2.2250738585072014e-308",
    "1e-400",
    "1e-99999999999",
    "0e99999999999",
    "0.000000000000000000000000001",
    "123456789012345678901234567890",
    "9007199254740993",
    "9007199254740992.9999999999",
    "1.7976931348623157e308",
    "1.7976931348623158e308",
    "1.79769313486231580793e308",
    "0.000017976931348623157e313",
};

Test(schema_number, double_is_the_nearest)
{
    for (size_t i = 0; i < COUNT(doubles); i++) {
        double value = -1;
        cr_expect(kwi_number_double(doubles[i], strlen(doubles[i]), &value), "%s", doubles[i]);
        double expected = strtod(doubles[i], NULL);
        cr_expect_eq(memcmp(&value, &expected, sizeof value), 0, "%s: %a, not %a", doubles[i],
                     value, expected);
    }
}

Test(schema_number, infinite_double_is_refused)
{
    static const char *const texts[] = {"1e309", "1e400", "1.7976931348623159e308",
                                        "1e99999999999999999999", "0.001e312"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        double value = -1;
        cr_expect(!kwi_number_double(texts[i], strlen(texts[i]), &value), "%s", texts[i]);
        cr_expect_eq(value, -1);
    }
}

// Half way between 1 and the next double: only what comes long after decides.
Test(schema_number, digits_far_behind_decide_the_rounding)
{
    static const char half_way[] = "1.00000000000000011102230246251565404236316680908203125";
    char text[2048];
    double value = 0;
    memset(text, '0', sizeof text);
    memcpy(text, half_way, sizeof half_way - 1);
    cr_expect(kwi_number_double(text, sizeof text, &value));
    cr_expect_eq(value, 1.0, "a tie goes to the even one");
    text[sizeof text - 1] = '1';
    cr_expect(kwi_number_double(text, sizeof text, &value));
    cr_expect_eq(value, 1.0 + DBL_EPSILON);
}

Test(schema_number, many_digits_before_the_point_count)
{
    char text[2002];
    double value = 0;
    memset(text, '0', sizeof text);
    text[0] = '1';
    cr_expect(!kwi_number_double(text, 400, &value), "1e399");
    cr_expect(kwi_number_double(text, 301, &value));
    cr_expect_eq(value, 1e300);
    memcpy(text + 1998, "e-19", 4);
    cr_expect(!kwi_number_double(text, sizeof text, &value), "1e1978");
    memcpy(text + 1996, "e-1990", 6);
    cr_expect(kwi_number_double(text, sizeof text, &value));
    cr_expect_eq(value, 1e5);
}

Test(schema_number, locale_with_a_comma_changes_nothing)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    bool set = false;
    for (size_t i = 0; i < COUNT(names) && !set; i++) {
        set = setlocale(LC_NUMERIC, names[i]) != NULL;
    }
    double value = 0;
    cr_expect(kwi_number_double("1.5e3", 5, &value));
    cr_expect_eq(value, 1500.0, "with a comma: %d", set);
}

Test(schema_number, point_or_exponent_makes_a_float)
{
    cr_expect(kwi_number_is_float("1.", 2));
    cr_expect(kwi_number_is_float("1e3", 3));
    cr_expect(kwi_number_is_float("1E3", 3));
    cr_expect(!kwi_number_is_float("13", 2));
    cr_expect(!kwi_number_is_float("13.5", 2));
}

Test(schema_number, words_have_the_numbers_of_pytorch)
{
    int64_t number = -1;
    cr_expect(kwi_constant_find("float", 5, false, &number) && number == 6);
    cr_expect(kwi_constant_find("complex", 7, false, &number) && number == 9);
    cr_expect(kwi_constant_find("long", 4, false, &number) && number == 4);
    cr_expect(kwi_constant_find("strided", 7, false, &number) && number == 0);
    cr_expect(kwi_constant_find("Mean", 4, false, &number) && number == 1);
    cr_expect(kwi_constant_find("contiguous_format", 17, false, &number) && number == 0);
    cr_expect(kwi_constant_find("bfloat16", 8, true, &number) && number == 15);
    cr_expect(kwi_constant_find("float", 5, true, &number) && number == 6);
    cr_expect(!kwi_constant_find("bfloat16", 8, false, &number));
    cr_expect(!kwi_constant_find("bfloat", 6, true, &number));
}
