// Forms: what each letter of a C signature code means in generated code.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "gen/form.h"

#include <stddef.h>
#include <string.h>

static const gen_form forms[] = {
    {"t", "t", NULL, "tensor", GEN_BOX_VALUE, GEN_KEYS_TENSOR, NULL},
    {"i", "i", "int64_t ", "int", GEN_BOX_VALUE, GEN_KEYS_NONE, NULL},
    {"d", "d", "double ", "float", GEN_BOX_VALUE, GEN_KEYS_NONE, NULL},
    {"b", "b", "bool ", "bool", GEN_BOX_VALUE, GEN_KEYS_NONE, NULL},
    {"c", "c", "kw_complex ", "complex", GEN_BOX_ADDRESS, GEN_KEYS_NONE, NULL},
    {"e", "e", "kw_device ", "device", GEN_BOX_VALUE, GEN_KEYS_NONE, NULL},
    {"y", "y", "kw_symint ", "symint", GEN_BOX_CHECKED, GEN_KEYS_NONE, NULL},
    {"s", "s", "const char *", "string", GEN_BOX_CHECKED, GEN_KEYS_NONE, NULL},
    {"g", "g", "void *", "generator", GEN_BOX_VALUE, GEN_KEYS_GENERATOR, NULL},
    {"n", "n", "kw_value ", "number", GEN_BOX_COPY, GEN_KEYS_NONE, NULL},
    {"v", "v", "kw_value ", "value", GEN_BOX_COPY, GEN_KEYS_NONE, NULL},
    {"T", "lt", "kw_tensor_list ", "tensors", GEN_BOX_CHECKED, GEN_KEYS_TENSOR_LIST, "t"},
    {"I", "li", "kw_int_list ", "ints", GEN_BOX_CHECKED, GEN_KEYS_NONE, "i"},
    {"D", "ld", "kw_float_list ", "floats", GEN_BOX_CHECKED, GEN_KEYS_NONE, "d"},
    {"B", "lb", "kw_bool_list ", "bools", GEN_BOX_CHECKED, GEN_KEYS_NONE, "b"},
    {"Y", "ly", "kw_symint_list ", "symints", GEN_BOX_CHECKED, GEN_KEYS_NONE, "y"},
    {"V", "lv", "kw_value_list ", "values", GEN_BOX_CHECKED, GEN_KEYS_NONE, "v"},
    {"?i", "oi", "const int64_t *", "optional_int", GEN_BOX_CHECKED, GEN_KEYS_NONE, NULL},
    {"?d", "od", "const double *", "optional_float", GEN_BOX_CHECKED, GEN_KEYS_NONE, NULL},
    {"?b", "ob", "const bool *", "optional_bool", GEN_BOX_CHECKED, GEN_KEYS_NONE, NULL},
    {"?c", "oc", "const kw_complex *", "optional_complex", GEN_BOX_CHECKED, GEN_KEYS_NONE, NULL},
    {"?e", "oe", "const kw_device *", "optional_device", GEN_BOX_CHECKED, GEN_KEYS_NONE, NULL},
    {"?y", "oy", "const kw_symint *", "optional_symint", GEN_BOX_CHECKED, GEN_KEYS_NONE, NULL},
    {"?T", "olt", "const kw_tensor_list *", "optional_tensors", GEN_BOX_CHECKED,
     GEN_KEYS_OPTIONAL_TENSOR_LIST, NULL},
    {"?I", "oli", "const kw_int_list *", "optional_ints", GEN_BOX_CHECKED, GEN_KEYS_NONE, NULL},
    {"?D", "old", "const kw_float_list *", "optional_floats", GEN_BOX_CHECKED, GEN_KEYS_NONE, NULL},
    {"?B", "olb", "const kw_bool_list *", "optional_bools", GEN_BOX_CHECKED, GEN_KEYS_NONE, NULL},
    {"?Y", "oly", "const kw_symint_list *", "optional_symints", GEN_BOX_CHECKED, GEN_KEYS_NONE,
     NULL},
    {"?V", "olv", "const kw_value_list *", "optional_values", GEN_BOX_CHECKED, GEN_KEYS_NONE, NULL},
};

const gen_form *gen_form_find(const char *code)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strncmp(code, forms[i].letter, strlen(forms[i].letter)) == 0) {
            return &forms[i];
        }
    }
    return NULL;
}

const gen_form *gen_form_plain(const gen_form *form)
{
    static const char *const pairs[][2] = {{"y", "i"}, {"Y", "I"}, {"?y", "?i"}, {"?Y", "?I"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (strcmp(form->letter, pairs[i][0]) == 0) {
            return gen_form_find(pairs[i][1]);
        }
    }
    return form;
}

const gen_form *gen_form_base(const gen_form *form)
{
    return form->letter[0] == '?' ? gen_form_find(form->letter + 1) : form;
}
