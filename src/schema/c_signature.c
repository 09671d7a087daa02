// C signatures: from a schema to a code, and from a code to its forms.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/c_signature.h"

#include <string.h>

#include "base/text.h"

// How one form is written, as a code and in C. `returned` NULL: it is no return's form.
typedef struct form_text {
    const char *letters;
    const char *taken;
    const char *returned;
} form_text;

static const form_text forms[] = {
    [KWI_C_TENSOR] = {"t", "void *", "void **"},
    [KWI_C_INT] = {"i", "int64_t", "int64_t *"},
    [KWI_C_FLOAT] = {"d", "double", "double *"},
    [KWI_C_BOOL] = {"b", "bool", "bool *"},
    [KWI_C_COMPLEX] = {"c", "kw_complex", "kw_complex *"},
    [KWI_C_DEVICE] = {"e", "kw_device", "kw_device *"},
    [KWI_C_SYM_INT] = {"y", "kw_symint", "kw_symint *"},
    [KWI_C_STRING] = {"s", "const char *", NULL},
    [KWI_C_GENERATOR] = {"g", "void *", NULL},
    [KWI_C_NUMBER] = {"n", "kw_value", "kw_value *"},
    [KWI_C_VALUE] = {"v", "kw_value", "kw_value *"},
    [KWI_C_TENSOR_LIST] = {"T", "kw_tensor_list", NULL},
    [KWI_C_INT_LIST] = {"I", "kw_int_list", NULL},
    [KWI_C_FLOAT_LIST] = {"D", "kw_float_list", NULL},
    [KWI_C_BOOL_LIST] = {"B", "kw_bool_list", NULL},
    [KWI_C_SYM_INT_LIST] = {"Y", "kw_symint_list", NULL},
    [KWI_C_VALUE_LIST] = {"V", "kw_value_list", NULL},
    [KWI_C_OPTIONAL_INT] = {"?i", "const int64_t *", NULL},
    [KWI_C_OPTIONAL_FLOAT] = {"?d", "const double *", NULL},
    [KWI_C_OPTIONAL_BOOL] = {"?b", "const bool *", NULL},
    [KWI_C_OPTIONAL_COMPLEX] = {"?c", "const kw_complex *", NULL},
    [KWI_C_OPTIONAL_DEVICE] = {"?e", "const kw_device *", NULL},
    [KWI_C_OPTIONAL_SYM_INT] = {"?y", "const kw_symint *", NULL},
    [KWI_C_OPTIONAL_TENSOR_LIST] = {"?T", "const kw_tensor_list *", NULL},
    [KWI_C_OPTIONAL_INT_LIST] = {"?I", "const kw_int_list *", NULL},
    [KWI_C_OPTIONAL_FLOAT_LIST] = {"?D", "const kw_float_list *", NULL},
    [KWI_C_OPTIONAL_BOOL_LIST] = {"?B", "const kw_bool_list *", NULL},
    [KWI_C_OPTIONAL_SYM_INT_LIST] = {"?Y", "const kw_symint_list *", NULL},
    [KWI_C_OPTIONAL_VALUE_LIST] = {"?V", "const kw_value_list *", NULL},
};

_Static_assert(sizeof forms / sizeof forms[0] == KWI_C_FORM_COUNT, "a text for each form");

// The forms of the kinds that have some of their own. Where NULL can be None, the optional has the
// form of the plain type.
typedef struct kind_forms {
    kw_type_kind kind;
    kwi_c_form plain;    // X
    kwi_c_form optional; // X?
    kwi_c_form list;     // X[]
} kind_forms;

static const kind_forms kinds[] = {
    {KW_TYPE_TENSOR, KWI_C_TENSOR, KWI_C_TENSOR, KWI_C_TENSOR_LIST},
    {KW_TYPE_INT, KWI_C_INT, KWI_C_OPTIONAL_INT, KWI_C_INT_LIST},
    {KW_TYPE_SCALAR_TYPE, KWI_C_INT, KWI_C_OPTIONAL_INT, KWI_C_INT_LIST},
    {KW_TYPE_LAYOUT, KWI_C_INT, KWI_C_OPTIONAL_INT, KWI_C_INT_LIST},
    {KW_TYPE_MEMORY_FORMAT, KWI_C_INT, KWI_C_OPTIONAL_INT, KWI_C_INT_LIST},
    {KW_TYPE_DEVICE_INDEX, KWI_C_INT, KWI_C_OPTIONAL_INT, KWI_C_INT_LIST},
    {KW_TYPE_QSCHEME, KWI_C_INT, KWI_C_OPTIONAL_INT, KWI_C_INT_LIST},
    {KW_TYPE_FLOAT, KWI_C_FLOAT, KWI_C_OPTIONAL_FLOAT, KWI_C_FLOAT_LIST},
    {KW_TYPE_BOOL, KWI_C_BOOL, KWI_C_OPTIONAL_BOOL, KWI_C_BOOL_LIST},
    {KW_TYPE_COMPLEX, KWI_C_COMPLEX, KWI_C_OPTIONAL_COMPLEX, KWI_C_VALUE_LIST},
    {KW_TYPE_DEVICE, KWI_C_DEVICE, KWI_C_OPTIONAL_DEVICE, KWI_C_VALUE_LIST},
    {KW_TYPE_SYM_INT, KWI_C_SYM_INT, KWI_C_OPTIONAL_SYM_INT, KWI_C_SYM_INT_LIST},
    {KW_TYPE_STRING, KWI_C_STRING, KWI_C_STRING, KWI_C_VALUE_LIST},
    {KW_TYPE_GENERATOR, KWI_C_GENERATOR, KWI_C_GENERATOR, KWI_C_VALUE_LIST},
    {KW_TYPE_SCALAR, KWI_C_NUMBER, KWI_C_NUMBER, KWI_C_VALUE_LIST},
};

static const kind_forms others = {KW_TYPE_ANY, KWI_C_VALUE, KWI_C_VALUE, KWI_C_VALUE_LIST};

static const kind_forms *find_forms(const kw_type *type)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].kind == (kw_type_kind)type->kind) {
            return &kinds[i];
        }
    }
    return &others;
}

// Of X[], where X? counts as X for tensors only.
static kwi_c_form list_form(const kw_type *list)
{
    const kw_type *element = kwi_type_child(list, 0);
    if (element->kind == KW_TYPE_OPTIONAL && kwi_type_child(element, 0)->kind == KW_TYPE_TENSOR) {
        return KWI_C_TENSOR_LIST;
    }
    return find_forms(element)->list;
}

static kwi_c_form optional_list_form(const kw_type *list)
{
    switch ((int)list_form(list)) {
    case KWI_C_TENSOR_LIST:
        return KWI_C_OPTIONAL_TENSOR_LIST;
    case KWI_C_INT_LIST:
        return KWI_C_OPTIONAL_INT_LIST;
    case KWI_C_FLOAT_LIST:
        return KWI_C_OPTIONAL_FLOAT_LIST;
    case KWI_C_BOOL_LIST:
        return KWI_C_OPTIONAL_BOOL_LIST;
    case KWI_C_SYM_INT_LIST:
        return KWI_C_OPTIONAL_SYM_INT_LIST;
    default:
        return KWI_C_OPTIONAL_VALUE_LIST;
    }
}

static kwi_c_form argument_form(const kw_type *type)
{
    if (type->kind == KW_TYPE_LIST) {
        return list_form(type);
    }
    if (type->kind != KW_TYPE_OPTIONAL) {
        return find_forms(type)->plain;
    }
    const kw_type *inside = kwi_type_child(type, 0);
    return inside->kind == KW_TYPE_LIST ? optional_list_form(inside) : find_forms(inside)->optional;
}

static kwi_c_form return_form(const kw_type *type)
{
    kwi_c_form form = argument_form(type);
    return forms[form].returned != NULL ? form : KWI_C_VALUE;
}

kw_status kwi_schema_signature(const kw_schema *schema, char *buffer, size_t size)
{
    char code[KWI_C_SIGNATURE_BYTES];
    kwi_text text;
    kwi_text_init(&text, code, sizeof code);
    if (schema->vararg || schema->varret) {
        return KW_NOT_SUPPORTED;
    }
    for (uint32_t i = 0; i < schema->arg_count; i++) {
        kwi_text_add_string(&text, forms[argument_form(&kwi_schema_types(schema)[i])].letters);
    }
    kwi_text_add_string(&text, ">");
    for (uint32_t i = 0; i < schema->return_count; i++) {
        kwi_c_form form = return_form(kwi_schema_return_type(schema, i));
        kwi_text_add_string(&text, forms[form].letters);
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
        if (strncmp(forms[form].letters, code, strlen(forms[form].letters)) == 0) {
            return (kwi_c_form)form;
        }
    }
    return KWI_C_FORM_COUNT;
}

static kw_status fail_code(const char *code, size_t offset, const char *expected, kw_error *err)
{
    (void)kwi_fail(err, KW_INVALID_ARGUMENT, "C signature \"%.160s\": at byte %zu: expected %s",
                   code, offset, expected);
    kwi_fail_place(err, (uint32_t)offset);
    return KW_INVALID_ARGUMENT;
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
    for (; *at != '>'; at += strlen(forms[decoded.args[decoded.arg_count++]].letters)) {
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
        if (form == KWI_C_FORM_COUNT || forms[form].returned == NULL) {
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

// A letter of the plain form.
static char plain_letter(char letter)
{
    return letter == 'y' ? 'i' : letter == 'Y' ? 'I' : letter;
}

static bool is_plain_form(const char *expected, const char *found)
{
    for (; *expected != '\0' && *expected != '>'; expected++, found++) {
        if (*found != plain_letter(*expected)) {
            return false;
        }
    }
    return strcmp(expected, found) == 0;
}

bool kwi_c_signature_serves(const char *expected, const char *found)
{
    return strcmp(expected, found) == 0 || is_plain_form(expected, found);
}

void kwi_c_signature_spell(const char *code, kwi_text *text)
{
    kwi_c_signature signature = {.arg_count = 0};
    if (kwi_c_signature_decode(code, &signature, NULL) != KW_OK) {
        kwi_text_add(text, "\"%s\"", code != NULL ? code : "");
        return;
    }
    kwi_text_add(text, "kw_status (const kw_kernel *, kw_keyset");
    for (uint32_t i = 0; i < signature.arg_count; i++) {
        kwi_text_add(text, ", %s", forms[signature.args[i]].taken);
    }
    for (uint32_t i = 0; i < signature.return_count; i++) {
        kwi_text_add(text, ", %s", forms[signature.returns[i]].returned);
    }
    kwi_text_add(text, ")");
}
