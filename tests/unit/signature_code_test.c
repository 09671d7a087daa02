// C signature codes: taking them apart. What a schema's code is stands in schema_test.c.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "schema/c_signature.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(signature_code, every_letter_is_read)
{
    kwi_c_signature forms;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kwi_c_signature_decode("tidbsTIDBg?i?d?b>tidb", &forms, &err), KW_OK, "%s",
                 err.text);
    static const uint8_t args[] = {KWI_C_TENSOR,       KWI_C_INT,          KWI_C_FLOAT,
                                   KWI_C_BOOL,         KWI_C_STRING,       KWI_C_TENSOR_LIST,
                                   KWI_C_INT_LIST,     KWI_C_FLOAT_LIST,   KWI_C_BOOL_LIST,
                                   KWI_C_GENERATOR,    KWI_C_OPTIONAL_INT, KWI_C_OPTIONAL_FLOAT,
                                   KWI_C_OPTIONAL_BOOL};
    cr_assert_eq(COUNT(args), KWI_C_FORM_COUNT);
    cr_assert_eq(forms.arg_count, COUNT(args));
    cr_expect_eq(memcmp(forms.args, args, sizeof args), 0);
    cr_assert_eq(forms.return_count, 4);
    cr_expect_eq(memcmp(forms.returns, args, 4), 0);
    cr_assert_eq(kwi_c_signature_decode(">", &forms, &err), KW_OK);
    cr_expect_eq(forms.arg_count, 0);
    cr_expect_eq(forms.return_count, 0);
}

// A caret stands before the byte that the error names.
Test(signature_code, malformed_code_is_rejected_with_its_byte)
{
    static const char *const malformed[] = {
        "^",   "t^",  "tt^", "^x>", "t^ >t", "^?t>", "^?s>", "^?g>",  "^?>", "^?",      "t^?T>",
        ">^s", ">^T", ">^I", ">^g", ">^?i",  ">t^>", ">^ ",  "t>t^x", "^S>", "i^\xff>",
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
    kwi_schema *schema = NULL;
    char code[5] = "____";
    cr_assert_eq(kwi_schema_parse("foo(Tensor x, int? y) -> Tensor", &schema, NULL), KW_OK);
    cr_expect_eq(kwi_schema_signature(schema, code, 5), KW_INVALID_ARGUMENT);
    cr_expect_str_eq(code, "____");
    kwi_schema_destroy(schema);
    cr_assert_eq(kwi_schema_parse("foo(Tensor x, int y) -> Tensor", &schema, NULL), KW_OK);
    cr_expect_eq(kwi_schema_signature(schema, code, 5), KW_OK);
    cr_expect_str_eq(code, "ti>t");
    kwi_schema_destroy(schema);
}
