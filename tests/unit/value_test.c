// Boxed values: what the constructors make, and the words for tags.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include <keyway/value.h>

Test(value, plain_values_carry_their_tag_and_nothing_else)
{
    cr_expect_eq(kw_value_none().tag, KW_TAG_NONE);
    cr_expect_eq(kw_value_none().as.bits, 0);
    kw_value value = kw_value_bool(true);
    cr_expect_eq(value.tag, KW_TAG_BOOL);
    cr_expect(value.as.as_bool);
    cr_expect_eq(value.as.bits, 1, "the other bytes are zero");
    cr_expect_eq(kw_value_bool(false).as.bits, 0);
    value = kw_value_int(INT64_MIN);
    cr_expect_eq(value.tag, KW_TAG_INT);
    cr_expect_eq(value.as.as_int, INT64_MIN);
    value = kw_value_float(-1.5);
    cr_expect_eq(value.tag, KW_TAG_FLOAT);
    cr_expect_eq(value.as.as_float, -1.5);
    cr_expect_eq(value.count, 0);
}

Test(value, absent_tensor_is_none)
{
    int tensor = 0;
    kw_value value = kw_value_tensor(&tensor);
    cr_expect_eq(value.tag, KW_TAG_TENSOR);
    cr_expect_eq(value.as.as_tensor, &tensor);
    value = kw_value_tensor(NULL);
    kw_value none = kw_value_none();
    cr_expect_eq(memcmp(&value, &none, sizeof value), 0);
}

Test(value, absent_generator_is_none)
{
    int generator = 0;
    kw_value value = kw_value_generator(&generator);
    cr_expect_eq(value.tag, KW_TAG_GENERATOR);
    cr_expect_eq(value.count, 0);
    cr_expect_eq(value.as.as_generator, &generator);
    value = kw_value_generator(NULL);
    kw_value none = kw_value_none();
    cr_expect_eq(memcmp(&value, &none, sizeof value), 0);
}

Test(value, string_counts_its_bytes)
{
    const char *text = "three";
    kw_value value = kw_value_string(text);
    cr_expect_eq(value.tag, KW_TAG_STRING);
    cr_expect_eq(value.count, 5);
    cr_expect_eq(value.as.as_string, text);
    cr_expect_eq(kw_value_string("").tag, KW_TAG_STRING);
    cr_expect_eq(kw_value_string(NULL).tag, KW_TAG_NONE);
    cr_expect_eq(kw_value_string(NULL).as.bits, 0);
}

Test(value, list_keeps_pointer_and_count)
{
    int64_t ints[2] = {1, 2};
    double floats[3] = {1, 2, 3};
    bool bools[1] = {true};
    void *tensors[4] = {ints, NULL, floats, bools};
    kw_value value = kw_value_ints((kw_int_list){ints, 2});
    cr_expect(value.tag == KW_TAG_INT_LIST && value.count == 2 && value.as.as_ints == ints);
    value = kw_value_floats((kw_float_list){floats, 3});
    cr_expect(value.tag == KW_TAG_FLOAT_LIST && value.count == 3 && value.as.as_floats == floats);
    value = kw_value_bools((kw_bool_list){bools, 1});
    cr_expect(value.tag == KW_TAG_BOOL_LIST && value.count == 1 && value.as.as_bools == bools);
    value = kw_value_tensors((kw_tensor_list){tensors, 4});
    cr_expect(value.tag == KW_TAG_TENSOR_LIST && value.count == 4 &&
              value.as.as_tensors == tensors);
}

Test(value, empty_list_is_a_list)
{
    cr_expect_eq(kw_value_ints((kw_int_list){NULL, 0}).tag, KW_TAG_INT_LIST);
    cr_expect_eq(kw_value_floats((kw_float_list){NULL, 0}).tag, KW_TAG_FLOAT_LIST);
    cr_expect_eq(kw_value_bools((kw_bool_list){NULL, 0}).tag, KW_TAG_BOOL_LIST);
    cr_expect_eq(kw_value_tensors((kw_tensor_list){NULL, 0}).tag, KW_TAG_TENSOR_LIST);
    cr_expect_eq(kw_value_symints((kw_symint_list){NULL, 0}).tag, KW_TAG_SYM_INT_LIST);
    cr_expect_eq(kw_value_values((kw_value_list){NULL, 0}).tag, KW_TAG_LIST);
    cr_expect_eq(kw_value_tuple((kw_value_list){NULL, 0}).tag, KW_TAG_TUPLE);
    cr_expect_eq(kw_value_dict((kw_value_list){NULL, 0}).tag, KW_TAG_DICT);
}

Test(value, values_in_a_view_are_borrowed)
{
    const kw_value values[] = {kw_value_int(1), kw_value_string("x")};
    kw_value value = kw_value_values((kw_value_list){values, 2});
    cr_expect(value.tag == KW_TAG_LIST && value.count == 2 && value.as.as_values == values);
    cr_expect_eq(value.flags, 0);
    value = kw_value_tuple((kw_value_list){values, 2});
    cr_expect(value.tag == KW_TAG_TUPLE && value.count == 2 && value.as.as_values == values);
    value = kw_value_dict((kw_value_list){values, 2});
    cr_expect(value.tag == KW_TAG_DICT && value.count == 1 && value.as.as_values == values);
    cr_expect_eq(kw_value_dict((kw_value_list){values, 1}).tag, KW_TAG_NONE, "a key and no value");
    cr_expect_eq(kw_value_dict((kw_value_list){values, 2 * ((size_t)UINT32_MAX + 1)}).tag,
                 KW_TAG_NONE);
    const kw_complex number = {1, 2};
    value = kw_value_complex(&number);
    cr_expect(value.tag == KW_TAG_COMPLEX && value.count == 0 && value.as.as_complex == &number);
    const kw_symint symints[] = {kw_symint_int(1)};
    value = kw_value_symints((kw_symint_list){symints, 1});
    cr_expect(value.tag == KW_TAG_SYM_INT_LIST && value.count == 1 &&
              value.as.as_symints == symints);
}

Test(value, device_is_plain)
{
    kw_value value = kw_value_device((kw_device){1, -1});
    cr_expect_eq(value.tag, KW_TAG_DEVICE);
    cr_expect_eq(value.as.as_device.type, 1);
    cr_expect_eq(value.as.as_device.index, -1);
}

Test(value, list_with_more_elements_than_a_value_counts_is_none)
{
    const size_t most = UINT32_MAX;
    const kw_value none = kw_value_none();
    int64_t element = 0;
    kw_value value = kw_value_ints((kw_int_list){&element, most});
    cr_expect(value.tag == KW_TAG_INT_LIST && value.count == UINT32_MAX);
    value = kw_value_ints((kw_int_list){&element, most + 1});
    cr_expect_eq(memcmp(&value, &none, sizeof value), 0);
    cr_expect_eq(kw_value_floats((kw_float_list){NULL, most + 1}).tag, KW_TAG_NONE);
    cr_expect_eq(kw_value_bools((kw_bool_list){NULL, most + 1}).tag, KW_TAG_NONE);
    cr_expect_eq(kw_value_tensors((kw_tensor_list){NULL, most + 1}).tag, KW_TAG_NONE);
    cr_expect_eq(kw_value_symints((kw_symint_list){NULL, most + 1}).tag, KW_TAG_NONE);
    cr_expect_eq(kw_value_values((kw_value_list){NULL, most + 1}).tag, KW_TAG_NONE);
    cr_expect_eq(kw_value_tuple((kw_value_list){NULL, most + 1}).tag, KW_TAG_NONE);
}

Test(value, tags_have_the_words_of_the_schema_language)
{
    cr_expect_str_eq(kw_tag_name(KW_TAG_NONE), "None");
    cr_expect_str_eq(kw_tag_name(KW_TAG_BOOL), "bool");
    cr_expect_str_eq(kw_tag_name(KW_TAG_INT), "int");
    cr_expect_str_eq(kw_tag_name(KW_TAG_FLOAT), "float");
    cr_expect_str_eq(kw_tag_name(KW_TAG_STRING), "str");
    cr_expect_str_eq(kw_tag_name(KW_TAG_TENSOR), "Tensor");
    cr_expect_str_eq(kw_tag_name(KW_TAG_TENSOR_LIST), "Tensor[]");
    cr_expect_str_eq(kw_tag_name(KW_TAG_INT_LIST), "int[]");
    cr_expect_str_eq(kw_tag_name(KW_TAG_FLOAT_LIST), "float[]");
    cr_expect_str_eq(kw_tag_name(KW_TAG_BOOL_LIST), "bool[]");
    cr_expect_str_eq(kw_tag_name(KW_TAG_GENERATOR), "Generator");
    cr_expect_str_eq(kw_tag_name(KW_TAG_DEVICE), "Device");
    cr_expect_str_eq(kw_tag_name(KW_TAG_COMPLEX), "complex");
    cr_expect_str_eq(kw_tag_name(KW_TAG_SYM_INT), "SymInt");
    cr_expect_str_eq(kw_tag_name(KW_TAG_SYM_BOOL), "SymBool");
    cr_expect_str_eq(kw_tag_name(KW_TAG_SYM_INT_LIST), "SymInt[]");
    cr_expect_str_eq(kw_tag_name(KW_TAG_LIST), "list");
    cr_expect_str_eq(kw_tag_name(KW_TAG_TUPLE), "tuple");
    cr_expect_str_eq(kw_tag_name(KW_TAG_DICT), "dict");
    cr_expect_str_eq(kw_tag_name(KW_TAG_OBJECT), "object");
    cr_expect_str_eq(kw_tag_name(5), "unknown");
    cr_expect_str_eq(kw_tag_name(31), "unknown");
    cr_expect_str_eq(kw_tag_name(47), "unknown");
    cr_expect_str_eq(kw_tag_name(UINT32_MAX), "unknown");
}
