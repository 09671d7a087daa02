// Equality of values, and the keys of dicts.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <math.h>

#include <keyway/value.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void expect(bool equal, kw_value a, kw_value b)
{
    cr_expect_eq(kw_value_equal(&a, &b), equal, "%s and %s", kw_tag_name(a.tag),
                 kw_tag_name(b.tag));
    cr_expect_eq(kw_value_equal(&b, &a), equal, "%s and %s", kw_tag_name(b.tag),
                 kw_tag_name(a.tag));
}

static kw_value make_list(const kw_value *values, size_t count)
{
    return kw_value_values((kw_value_list){values, count});
}

static kw_value make_dict(const kw_value *pairs, size_t count)
{
    return kw_value_dict((kw_value_list){pairs, count});
}

Test(value_equal, values_of_one_tag_compare_by_contents)
{
    int x = 0;
    int y = 0;
    const kw_complex i = {0, 1};
    const kw_complex also_i = {0, 1};
    const kw_complex one = {1, 0};
    expect(true, kw_value_none(), kw_value_none());
    expect(true, kw_value_bool(true), kw_value_bool(true));
    expect(false, kw_value_bool(true), kw_value_bool(false));
    expect(true, kw_value_int(INT64_MIN), kw_value_int(INT64_MIN));
    expect(false, kw_value_int(1), kw_value_int(2));
    expect(true, kw_value_float(0.0), kw_value_float(-0.0));
    expect(false, kw_value_float(1), kw_value_float(2));
    expect(false, kw_value_float(NAN), kw_value_float(NAN));
    expect(true, kw_value_device((kw_device){1, 0}), kw_value_device((kw_device){1, 0}));
    expect(false, kw_value_device((kw_device){1, 0}), kw_value_device((kw_device){1, 1}));
    expect(false, kw_value_device((kw_device){0, 0}), kw_value_device((kw_device){1, 0}));
    expect(true, kw_value_complex(&i), kw_value_complex(&also_i));
    expect(false, kw_value_complex(&i), kw_value_complex(&one));
    expect(true, kw_value_tensor(&x), kw_value_tensor(&x));
    expect(false, kw_value_tensor(&x), kw_value_tensor(&y));
    expect(false, kw_value_tensor(&x), kw_value_generator(&x));
    const char text[] = "text";
    expect(true, kw_value_string(text), kw_value_string("text"));
    expect(false, kw_value_string(text), kw_value_string("test"));
    expect(false, kw_value_string(text), kw_value_string("tex"));
}

Test(value_equal, other_tags_are_other_values)
{
    const int64_t ints[] = {1};
    const kw_symint symints[] = {kw_symint_int(1)};
    const kw_value one = kw_value_int(1);
    expect(false, kw_value_int(1), kw_value_float(1));
    expect(false, kw_value_int(1), kw_value_bool(true));
    expect(false, kw_value_int(0), kw_value_none());
    expect(false, kw_value_ints((kw_int_list){ints, 1}),
           kw_value_symints((kw_symint_list){symints, 1}));
    expect(false, make_list(&one, 1), kw_value_tuple((kw_value_list){&one, 1}));
    expect(false, make_list(NULL, 0), make_dict(NULL, 0));
    kw_value odd = kw_value_int(1);
    odd.tag = 77;
    expect(false, odd, odd);
}

Test(value_equal, lists_compare_element_by_element)
{
    const int64_t ints[] = {1, 2, 1, 2, 3};
    const double floats[] = {1, -0.0, 1, 0.0, NAN};
    const bool bools[] = {true, false, true, false, true};
    int x = 0;
    void *const tensors[] = {&x, NULL, &x, NULL, &x};
    expect(true, kw_value_ints((kw_int_list){ints, 2}), kw_value_ints((kw_int_list){ints + 2, 2}));
    expect(false, kw_value_ints((kw_int_list){ints, 2}), kw_value_ints((kw_int_list){ints + 1, 2}));
    expect(false, kw_value_ints((kw_int_list){ints, 2}), kw_value_ints((kw_int_list){ints, 1}));
    expect(true, kw_value_floats((kw_float_list){floats, 2}),
           kw_value_floats((kw_float_list){floats + 2, 2}));
    expect(false, kw_value_floats((kw_float_list){floats, 5}),
           kw_value_floats((kw_float_list){floats, 5}));
    expect(true, kw_value_bools((kw_bool_list){bools, 2}),
           kw_value_bools((kw_bool_list){bools + 2, 2}));
    expect(true, kw_value_tensors((kw_tensor_list){tensors, 2}),
           kw_value_tensors((kw_tensor_list){tensors + 2, 2}));
    expect(false, kw_value_tensors((kw_tensor_list){tensors, 2}),
           kw_value_tensors((kw_tensor_list){tensors + 1, 2}));
    expect(true, kw_value_ints((kw_int_list){NULL, 0}), kw_value_ints((kw_int_list){ints, 0}));
}

Test(value_equal, nested_values_compare_in_full)
{
    const kw_value leaves[] = {kw_value_int(1), kw_value_string("x"), kw_value_none()};
    const kw_value others[] = {kw_value_int(1), kw_value_string("y"), kw_value_none()};
    const kw_value left[] = {make_list(NULL, 0), make_list(leaves, 3), kw_value_int(7)};
    const kw_value right[] = {make_list(NULL, 0), make_list(leaves, 3), kw_value_int(7)};
    const kw_value wrong[] = {make_list(NULL, 0), make_list(others, 3), kw_value_int(7)};
    const kw_value last[] = {make_list(NULL, 0), make_list(leaves, 3), kw_value_int(8)};
    expect(true, make_list(left, 3), make_list(right, 3));
    expect(false, make_list(left, 3), make_list(wrong, 3));
    expect(false, make_list(left, 3), make_list(last, 3));
    expect(false, make_list(left, 3), make_list(left, 2));
}

Test(value_equal, dicts_compare_in_any_order)
{
    const kw_value one = kw_value_int(1);
    const kw_value ab[] = {kw_value_string("a"), kw_value_int(1), kw_value_string("b"),
                           make_list(&one, 1)};
    const kw_value ba[] = {kw_value_string("b"), make_list(&one, 1), kw_value_string("a"),
                           kw_value_int(1)};
    const kw_value ac[] = {kw_value_string("a"), kw_value_int(1), kw_value_string("c"),
                           make_list(&one, 1)};
    const kw_value other[] = {kw_value_string("a"), kw_value_int(2), kw_value_string("b"),
                              make_list(&one, 1)};
    expect(true, make_dict(ab, 4), make_dict(ba, 4));
    expect(false, make_dict(ab, 4), make_dict(ac, 4));
    expect(false, make_dict(ab, 4), make_dict(other, 4));
    expect(false, make_dict(ab, 4), make_dict(ab, 2));
}

Test(value_equal, key_is_found_by_type_and_contents)
{
    const kw_value pairs[] = {kw_value_int(1),      kw_value_string("int"),
                              kw_value_float(1),    kw_value_string("float"),
                              kw_value_bool(true),  kw_value_string("bool"),
                              kw_value_string("1"), kw_value_string("str")};
    const kw_value dict = make_dict(pairs, COUNT(pairs));
    for (size_t i = 0; i < COUNT(pairs); i += 2) {
        cr_expect_eq(kw_value_dict_find(&dict, &pairs[i]), &pairs[i + 1]);
    }
    kw_value key = kw_value_int(2);
    cr_expect_null(kw_value_dict_find(&dict, &key));
    key = kw_value_none();
    cr_expect_null(kw_value_dict_find(&dict, &key));
    key = kw_value_float(NAN);
    cr_expect_null(kw_value_dict_find(&dict, &key));
    cr_expect_null(kw_value_dict_find(&pairs[0], &pairs[0]));
    cr_expect_null(kw_value_dict_find(NULL, &key));
    cr_expect_null(kw_value_dict_find(&dict, NULL));
}

enum {
    DEPTH = 100000
};

static kw_value chain[DEPTH];
static kw_value ladder[2 * DEPTH];

Test(value_equal, deep_values_need_no_stack)
{
    chain[0] = kw_value_int(1);
    ladder[0] = kw_value_int(1);
    for (int i = 1; i < DEPTH; i++) {
        chain[i] = make_list(&chain[i - 1], 1);
        ladder[2 * i] = make_list(&ladder[2 * i - 2], 2); // nested at the first of two
        ladder[2 * i + 1] = kw_value_none();
    }
    expect(true, chain[DEPTH - 1], chain[DEPTH - 1]);
    expect(false, chain[DEPTH - 1], chain[DEPTH - 2]);
    expect(true, ladder[2 * 100], ladder[2 * 100]);
    expect(false, ladder[2 * (DEPTH - 1)], ladder[2 * (DEPTH - 1)]);
}
