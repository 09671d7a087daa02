// Element types and layouts: numbers, sizes, kinds and names.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>

#include <keyway/dtype.h>

TestSuite(dtype);

Test(dtype, number_beyond_the_list_is_no_type)
{
    cr_expect_eq(kw_dtype_bytes(29), 8);
    cr_expect_eq(kw_dtype_bytes(30), 0);
    cr_expect_eq(kw_dtype_bytes(255), 0);
    cr_expect_null(kw_dtype_name(30));
}

Test(dtype, every_type_is_found_by_its_name)
{
    for (unsigned i = 0; i < 30; i++) {
        uint8_t found = 0xff;
        cr_assert_eq(kw_dtype_find(kw_dtype_name((uint8_t)i), &found, NULL), KW_OK);
        cr_expect_eq(found, i);
        cr_expect_gt(kw_dtype_bytes(found), 0);
    }
}

// Numbers, bytes and kinds as PyTorch's ScalarType has them, written down once more.
Test(dtype, numbers_are_those_of_the_original)
{
    static const struct {
        unsigned number;
        const char *name;
        size_t bytes;
        kw_dtype_kind kind;
    } expected[] = {
        {0, "uint8", 1, KW_DTYPE_KIND_UNSIGNED},
        {1, "int8", 1, KW_DTYPE_KIND_SIGNED},
        {4, "int64", 8, KW_DTYPE_KIND_SIGNED},
        {5, "float16", 2, KW_DTYPE_KIND_FLOATING},
        {6, "float32", 4, KW_DTYPE_KIND_FLOATING},
        {7, "float64", 8, KW_DTYPE_KIND_FLOATING},
        {10, "complex128", 16, KW_DTYPE_KIND_COMPLEX},
        {11, "bool", 1, KW_DTYPE_KIND_BOOLEAN},
        {13, "quint8", 1, KW_DTYPE_KIND_QUANTIZED},
        {15, "bfloat16", 2, KW_DTYPE_KIND_FLOATING},
        {22, "bits16", 2, KW_DTYPE_KIND_BITS},
        {24, "float8_e4m3fn", 1, KW_DTYPE_KIND_FLOATING},
        {29, "uint64", 8, KW_DTYPE_KIND_UNSIGNED},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        uint8_t dtype = (uint8_t)expected[i].number;
        cr_expect_str_eq(kw_dtype_name(dtype), expected[i].name);
        cr_expect_eq(kw_dtype_bytes(dtype), expected[i].bytes);
        cr_expect_eq(kw_dtype_kind_of(dtype), expected[i].kind);
    }
}

Test(dtype, other_names_of_the_original_are_found)
{
    static const struct {
        const char *name;
        uint8_t dtype;
    } expected[] = {
        {"float", KW_DTYPE_FLOAT32},      {"double", KW_DTYPE_FLOAT64},
        {"half", KW_DTYPE_FLOAT16},       {"int", KW_DTYPE_INT32},
        {"long", KW_DTYPE_INT64},         {"short", KW_DTYPE_INT16},
        {"chalf", KW_DTYPE_COMPLEX32},    {"cfloat", KW_DTYPE_COMPLEX64},
        {"cdouble", KW_DTYPE_COMPLEX128},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        uint8_t found = 0xff;
        cr_expect_eq(kw_dtype_find(expected[i].name, &found, NULL), KW_OK);
        cr_expect_eq(found, expected[i].dtype);
    }
}

Test(dtype, unknown_name_is_named_in_the_text)
{
    uint8_t found = 0xff;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_dtype_find("float128", &found, &err), KW_NOT_FOUND);
    cr_expect_str_eq(err.text, "no element type is called 'float128'");
    cr_expect_eq(found, 0xff, "outputs are untouched");
    cr_expect_eq(kw_dtype_find(NULL, &found, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_dtype_find("bool", NULL, NULL), KW_INVALID_ARGUMENT);
}

Test(dtype, layouts_have_names)
{
    cr_expect_str_eq(kw_layout_name(KW_LAYOUT_STRIDED), "strided");
    cr_expect_str_eq(kw_layout_name(KW_LAYOUT_SPARSE_BSC), "sparse_bsc");
    cr_expect_str_eq(kw_layout_name(KW_LAYOUT_JAGGED), "jagged");
    cr_expect_null(kw_layout_name(8));
}
