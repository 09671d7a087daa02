// C signatures: from a schema to a code, and from a code to its forms.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/c_signature.h"

#include <string.h>

#include "base/text.h"

// By kwi_c_form.
static const char *const letters[] = {"t", "i", "d", "b",  "s",  "T", "I",
                                      "D", "B", "g", "?i", "?d", "?b"};

_Static_assert(sizeof letters / sizeof letters[0] == KWI_C_FORM_COUNT, "a letter for each form");

// The forms of one fake kind; KWI_C_FORM_COUNT where there is none.
typedef struct kind_forms {
    kwi_type_kind fake;
    kwi_c_form plain;         // X
    kwi_c_form optional;      // X?
    kwi_c_form list;          // X[]
    kwi_c_form optional_list; // X?[]
} kind_forms;

// Where NULL can be None, the optional has the form of the plain type.
static const kind_forms forms[] = {
    {KWI_TYPE_TENSOR, KWI_C_TENSOR, KWI_C_TENSOR, KWI_C_TENSOR_LIST, KWI_C_TENSOR_LIST},
    {KWI_TYPE_INT, KWI_C_INT, KWI_C_OPTIONAL_INT, KWI_C_INT_LIST, KWI_C_FORM_COUNT},
    {KWI_TYPE_FLOAT, KWI_C_FLOAT, KWI_C_OPTIONAL_FLOAT, KWI_C_FLOAT_LIST, KWI_C_FORM_COUNT},
    {KWI_TYPE_BOOL, KWI_C_BOOL, KWI_C_OPTIONAL_BOOL, KWI_C_BOOL_LIST, KWI_C_FORM_COUNT},
    {KWI_TYPE_STRING, KWI_C_STRING, KWI_C_STRING, KWI_C_FORM_COUNT, KWI_C_FORM_COUNT},
    {KWI_TYPE_GENERATOR, KWI_C_GENERATOR, KWI_C_GENERATOR, KWI_C_FORM_COUNT, KWI_C_FORM_COUNT},
};

static kwi_c_form argument_form(const kwi_type *type)
{
    uint8_t fake = kwi_type_kind_fake(type->kind);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (forms[i].fake != fake) {
            continue;
        }
        if (type->list) {
            kwi_c_form form = type->element_optional ? forms[i].optional_list : forms[i].list;
            return type->optional ? KWI_C_FORM_COUNT : form;
        }
        return type->optional ? forms[i].optional : forms[i].plain;
    }
    return KWI_C_FORM_COUNT;
}

static bool is_return_form(kwi_c_form form)
{
    return form == KWI_C_TENSOR || form == KWI_C_INT || form == KWI_C_FLOAT || form == KWI_C_BOOL;
}

kw_status kwi_schema_signature(const kwi_schema *schema, char *buffer, size_t size)
{
    char code[KWI_C_SIGNATURE_BYTES];
    kwi_text text;
    kwi_text_init(&text, code, sizeof code);
    if (schema->vararg || schema->varret) {
        return KW_NOT_SUPPORTED;
    }
    for (uint32_t i = 0; i < schema->arg_count; i++) {
        kwi_c_form form = argument_form(&schema->args[i].type);
        if (form == KWI_C_FORM_COUNT) {
            return KW_NOT_SUPPORTED;
        }
        kwi_text_add(&text, "%s", letters[form]);
    }
    kwi_text_add(&text, ">");
    for (uint32_t i = 0; i < schema->return_count; i++) {
        kwi_c_form form = argument_form(&schema->returns[i].type);
        if (!is_return_form(form)) {
            return KW_NOT_SUPPORTED;
        }
        kwi_text_add(&text, "%s", letters[form]);
    }
    if (text.length >= size) {
        return KW_INVALID_ARGUMENT;
    }
    memcpy(buffer, code, text.length + 1);
    return KW_OK;
}

// Reads one letter, with its question mark; KWI_C_FORM_COUNT if there is none.
static kwi_c_form read_form(const char *code)
{
    for (int form = 0; form < KWI_C_FORM_COUNT; form++) {
        if (strncmp(letters[form], code, strlen(letters[form])) == 0) {
            return (kwi_c_form)form;
        }
    }
    return KWI_C_FORM_COUNT;
}

static kw_status fail_code(const char *code, size_t offset, const char *expected, kw_error *err)
{
    return kwi_fail(err, KW_INVALID_ARGUMENT, "C signature \"%.160s\": at byte %zu: expected %s",
                    code, offset, expected);
}

static kw_status fail_count(const char *code, const char *what, int most, kw_error *err)
{
    return kwi_fail(err, KW_TOO_MANY_ARGUMENTS, "C signature \"%.160s\" has more than %d %s", code,
                    most, what);
}

kw_status kwi_c_signature_decode(const char *code, kwi_c_signature *out_signature, kw_error *err)
{
    kwi_c_signature decoded = {.arg_count = 0};
    if (code == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "the C signature is NULL");
    }
    const char *at = code;
    for (; *at != '>'; at += strlen(letters[decoded.args[decoded.arg_count++]])) {
        kwi_c_form form = read_form(at);
        if (form == KWI_C_FORM_COUNT) {
            return fail_code(code, (size_t)(at - code), "an argument's letter or '>'", err);
        }
        if (decoded.arg_count == KWI_SCHEMA_ARGS_MAX) {
            return fail_count(code, "arguments", KWI_SCHEMA_ARGS_MAX, err);
        }
        decoded.args[decoded.arg_count] = (uint8_t)form;
    }
    for (at++; *at != '\0'; at++) {
        kwi_c_form form = read_form(at);
        if (!is_return_form(form)) {
            return fail_code(code, (size_t)(at - code), "a return's letter or the end", err);
        }
        if (decoded.return_count == KWI_SCHEMA_RETURNS_MAX) {
            return fail_count(code, "returns", KWI_SCHEMA_RETURNS_MAX, err);
        }
        decoded.returns[decoded.return_count++] = (uint8_t)form;
    }
    *out_signature = decoded;
    return KW_OK;
}
