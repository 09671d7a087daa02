// C signature codes: taking them apart. What a schema's code is stands in schema_test.c.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "schema/c_signature.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// Every form once, in the order of kwi_c_form.
static const char every_form[] = "tidbceysgnvTIDBYV?i?d?b?c?e?y?T?I?D?B?Y?V";

Test(signature_code, every_letter_is_read)
{
    kwi_c_signature forms;
    kw_error err = KW_ERROR_INIT;
    char code[KWI_C_SIGNATURE_BYTES];
    static const uint8_t returns[] = {KWI_C_TENSOR,  KWI_C_INT,     KWI_C_FLOAT,
                                      KWI_C_BOOL,    KWI_C_COMPLEX, KWI_C_DEVICE,
                                      KWI_C_SYM_INT, KWI_C_NUMBER,  KWI_C_VALUE};
    snprintf(code, sizeof code, "%s>tidbceynv", every_form);
    cr_assert_eq(kwi_c_signature_decode(code, &forms, &err), KW_OK, "%s", err.text);
    cr_assert_eq(forms.arg_count, KWI_C_FORM_COUNT);
    for (uint32_t i = 0; i < forms.arg_count; i++) {
        cr_expect_eq(forms.args[i], i);
    }
    cr_assert_eq(forms.return_count, COUNT(returns));
    cr_expect_eq(memcmp(forms.returns, returns, sizeof returns), 0);
    cr_assert_eq(kwi_c_signature_decode(">", &forms, &err), KW_OK);
    cr_expect_eq(forms.arg_count, 0);
    cr_expect_eq(forms.return_count, 0);
}

// Types by the code of an argument and of a return.
typedef struct code_row {
    const char *type;
    const char *argument;
    const char *returned;
} code_row;

static const code_row code_rows[] = {
    {"Tensor", "t", "t"},
    {"Tensor?", "t", "t"},
    {"int", "i", "i"},
    {"ScalarType", "i", "i"},
    {"Layout", "i", "i"},
    {"MemoryFormat", "i", "i"},
    {"DeviceIndex", "i", "i"},
    {"QScheme", "i", "i"},
    {"float", "d", "d"},
    {"bool", "b", "b"},
    {"complex", "c", "c"},
    {"Device", "e", "e"},
    {"SymInt", "y", "y"},
    {"str", "s", "v"},
    {"str?", "s", "v"},
    {"Generator", "g", "v"},
    {"Generator?", "g", "v"},
    {"Scalar", "n", "n"},
    {"Scalar?", "n", "n"},
    {"Tensor[]", "T", "v"},
    {"Tensor?[]", "T", "v"},
    {"Tensor[3]", "T", "v"},
    {"int[]", "I", "v"},
    {"ScalarType[2]", "I", "v"},
    {"QScheme[]", "I", "v"},
    {"float[]", "D", "v"},
    {"bool[4]", "B", "v"},
    {"SymInt[]", "Y", "v"},
    {"str[]", "V", "v"},
    {"complex[]", "V", "v"},
    {"Device[]", "V", "v"},
    {"Scalar[]", "V", "v"},
    {"Generator[]", "V", "v"},
    {"int?[]", "V", "v"},
    {"int[][]", "V", "v"},
    {"(int, int)[]", "V", "v"},
    {"Any[]", "V", "v"},
    {"Tensor[][]", "V", "v"},
    {"Tensor[]?[]", "V", "v"},
    {"int?", "?i", "v"},
    {"Layout?", "?i", "v"},
    {"float?", "?d", "v"},
    {"bool?", "?b", "v"},
    {"complex?", "?c", "v"},
    {"Device?", "?e", "v"},
    {"SymInt?", "?y", "v"},
    {"Tensor[]?", "?T", "v"},
    {"Tensor?[]?", "?T", "v"},
    {"int[2]?", "?I", "v"},
    {"float[]?", "?D", "v"},
    {"bool[]?", "?B", "v"},
    {"SymInt[]?", "?Y", "v"},
    {"str[]?", "?V", "v"},
    {"int?[]?", "?V", "v"},
    {"SymBool", "v", "v"},
    {"SymBool?", "v", "v"},
    {"Any", "v", "v"},
    {"Any?", "v", "v"},
    {"Dict(str, int)", "v", "v"},
    {"Dict(str, int)?", "v", "v"},
    {"Union(int, str)", "v", "v"},
    {"Future(int)", "v", "v"},
    {"Storage", "v", "v"},
    {"Stream", "v", "v"},
    {"Quantizer", "v", "v"},
    {"NoneType", "v", "v"},
    {"(int, int)", "v", "v"},
    {"()", "v", "v"},
    {"__torch__.torch.classes.a.B", "v", "v"},
};

Test(signature_code, every_type_has_its_code)
{
    for (size_t i = 0; i < COUNT(code_rows); i++) {
        const code_row *row = &code_rows[i];
        char text[128];
        char code[KWI_C_SIGNATURE_BYTES];
        char expected[8];
        kw_schema *schema = NULL;
        snprintf(text, sizeof text, "foo(%s x) -> (%s y)", row->type, row->type);
        snprintf(expected, sizeof expected, "%s>%s", row->argument, row->returned);
        cr_assert_eq(kw_schema_parse(text, &schema, NULL), KW_OK, "%s", text);
        cr_expect_eq(kw_schema_c_signature(schema, code, sizeof code), strlen(expected));
        cr_expect_str_eq(code, expected, "%s", row->type);
        kw_schema_destroy(schema);
    }
}

Test(signature_code, code_is_spelled_as_a_function)
{
    char buffer[256];
    kwi_text text;
    kwi_text_init(&text, buffer, sizeof buffer);
    kwi_c_signature_spell("tTI?d?Ysnv>ticv", &text);
    cr_expect_str_eq(buffer,
                     "kw_status (const kw_kernel *, kw_keyset, void *, kw_tensor_list, "
                     "kw_int_list, const double *, const kw_symint_list *, const char *, kw_value, "
                     "kw_value, void **, int64_t *, kw_complex *, kw_value *)");
    kwi_text_init(&text, buffer, sizeof buffer);
    kwi_c_signature_spell(">", &text);
    cr_expect_str_eq(buffer, "kw_status (const kw_kernel *, kw_keyset)");
    kwi_text_init(&text, buffer, sizeof buffer);
    kwi_c_signature_spell("tx>", &text);
    cr_expect_str_eq(buffer, "\"tx>\"");
}

Test(signature_code, code_is_served_by_itself_and_by_its_plain_form)
{
    cr_expect(kwi_c_signature_serves("tiI>t", "tiI>t"));
    cr_expect(kwi_c_signature_serves("tyY?y?Y>y", "tyY?y?Y>y"));
    cr_expect(kwi_c_signature_serves("tyY?y?Y>y", "tiI?i?I>y"));
    cr_expect(kwi_c_signature_serves(">", ">"));
    cr_expect(!kwi_c_signature_serves("yY>", "yI>"), "all or none");
    cr_expect(!kwi_c_signature_serves("y>y", "i>i"), "returns stay");
    cr_expect(!kwi_c_signature_serves("i>", "y>"), "not the other way");
    cr_expect(!kwi_c_signature_serves("yt>", "i>"));
    cr_expect(!kwi_c_signature_serves("y>", "it>"));
    cr_expect(!kwi_c_signature_serves("?y>", "i>"));
    cr_expect(!kwi_c_signature_serves("y>t", "i>"));
    cr_expect(!kwi_c_signature_serves("y>", ""));
}

// A caret stands before the byte that the error names.
Test(signature_code, malformed_code_is_rejected_with_its_byte)
{
    static const char *const malformed[] = {
        "^",    "t^",   "tt^",  "^x>", "t^ >t", "^?t>", "^?s>", "^?g>", "^?n>",    "^?v>", "^?>",
        "^?",   "t^?>", "^??i", ">^s", ">^T",   ">^I",  ">^D",  ">^B",  ">^Y",     ">^V",  ">^g",
        ">^?i", ">^?T", ">t^>", ">^ ", "t>t^x", "^S>",  "^C>",  "^N>",  "i^\xff>",
    };
    for (size_t i = 0; i < COUNT(malformed); i++) {
        char code[16];
        char expected[32];
        const char *caret = strchr(malformed[i], '^');
        snprintf(code, sizeof code, "%.*s%s", (int)(caret - malformed[i]), malformed[i], caret + 1);
        snprintf(expected, sizeof expected, "at byte %d: ", (int)(caret - malformed[i]));
        kw_error err = KW_ERROR_INIT;
        kwi_c_signature forms = {.arg_count = 99};
        cr_expect_eq(kwi_c_signature_decode(code, &forms, &err), KW_INVALID_ARGUMENT, "%s", code);
        cr_expect(strstr(err.text, expected) != NULL, "%s: %s", code, err.text);
        cr_expect_eq(err.position, caret - malformed[i]);
        cr_expect_eq(forms.arg_count, 99, "untouched");
    }
    cr_expect_eq(kwi_c_signature_decode(NULL, NULL, NULL), KW_INVALID_ARGUMENT);
}

Test(signature_code, counts_are_bounded)
{
    char code[2 * 65 + 1 + 17 + 1];
    kwi_c_signature forms;
    kw_error err = KW_ERROR_INIT;
    for (int i = 0; i < 64; i++) {
        memcpy(code + 2 * i, "?d", 2);
    }
    strcpy(code + 128, ">tttttttttttttttt");
    cr_assert_eq(strlen(code) + 1, KWI_C_SIGNATURE_BYTES);
    cr_expect_eq(kwi_c_signature_decode(code, &forms, &err), KW_OK);
    cr_expect_eq(forms.arg_count, 64);
    cr_expect_eq(forms.return_count, 16);
    strcpy(code + 128, ">ttttttttttttttttt");
    cr_expect_eq(kwi_c_signature_decode(code, &forms, &err), KW_TOO_MANY_ARGUMENTS);
    strcpy(code + 128, "i>");
    cr_expect_eq(kwi_c_signature_decode(code, &forms, &err), KW_TOO_MANY_ARGUMENTS);
    cr_expect(strstr(err.text, "more than 64 arguments") != NULL, "%s", err.text);
}

Test(signature_code, buffer_too_small_is_refused_untouched)
{
    kw_schema *schema = NULL;
    char code[5] = "____";
    cr_assert_eq(kw_schema_parse("foo(Tensor x, int? y) -> Tensor", &schema, NULL), KW_OK);
    cr_expect_eq(kwi_schema_signature(schema, code, 5), KW_INVALID_ARGUMENT);
    cr_expect_str_eq(code, "____");
    kw_schema_destroy(schema);
    cr_assert_eq(kw_schema_parse("foo(Tensor x, int y) -> Tensor", &schema, NULL), KW_OK);
    cr_expect_eq(kwi_schema_signature(schema, code, 5), KW_OK);
    cr_expect_str_eq(code, "ti>t");
    kw_schema_destroy(schema);
}
