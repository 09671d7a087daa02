// Constants for the defaults of arguments.
//
// Each is an expression of the parameter's type, in C and in C++: a literal, or the name or address
// of a constant object.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "gen/constant.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <keyway/value.h>

#include "gen/layout.h"

const char *gen_constant_name(gen_arena *arena, const gen_operator *op, uint32_t arg_index)
{
    if (kw_schema_arg(op->schema, arg_index).default_text.length == 0) {
        return NULL;
    }
    const char *word = gen_upper(arena, gen_identifier(arena, op->args[arg_index].word));
    return gen_format(arena, "%s_%s_DEFAULT", op->macro, word);
}

static const char *int_text(gen_arena *arena, int64_t integer)
{
    if (integer == INT64_MIN) {
        return "INT64_MIN";
    }
    if (integer > INT32_MIN && integer <= INT32_MAX) {
        return gen_format(arena, "%" PRIi64, integer);
    }
    return integer < 0 ? gen_format(arena, "-INT64_C(%" PRIi64 ")", -integer)
                       : gen_format(arena, "INT64_C(%" PRIi64 ")", integer);
}

static const char *float_text(gen_arena *arena, double number)
{
    if (isnan(number)) {
        return "__builtin_nan(\"\")";
    }
    if (isinf(number)) {
        return number < 0 ? "-__builtin_inf()" : "__builtin_inf()";
    }
    char shortest[32] = "";
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(shortest, sizeof shortest, "%.*g", digits, number);
        double again = 0;
        if (sscanf(shortest, "%lf", &again) == 1 && again == number) { // NOLINT(cert-err34-c)
            break;
        }
    }
    bool is_float = strpbrk(shortest, ".e") != NULL;
    return gen_format(arena, "%s%s", shortest, is_float ? "" : ".0");
}

static const char *string_text(gen_arena *arena, const char *bytes, size_t length)
{
    gen_text text = {.data = NULL};
    gen_add(&text, "\"");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '"' || c == '\\' || c == '?') { // "??" would begin a trigraph
            gen_add(&text, "\\%c", c);
        } else if (c >= ' ' && c <= '~') {
            gen_add(&text, "%c", c);
        } else {
            gen_add(&text, "\\%03o", c);
        }
    }
    gen_add(&text, "\"");
    const char *copy = gen_copy(arena, text.data, text.length);
    gen_text_fini(&text);
    return copy;
}

// A value as a literal, if it is of the tag that the letter's type has; NULL otherwise.
static const char *literal(gen_arena *arena, char letter, const kw_value *value)
{
    if (letter == 'i' && value->tag == KW_TAG_INT) {
        return int_text(arena, value->as.as_int);
    }
    if (letter == 'd' && value->tag == KW_TAG_FLOAT) {
        return float_text(arena, value->as.as_float);
    }
    if (letter == 'd' && value->tag == KW_TAG_INT) {
        return float_text(arena, (double)value->as.as_int);
    }
    if (letter == 'b' && value->tag == KW_TAG_BOOL) {
        return value->as.as_bool ? "true" : "false";
    }
    if (letter == 's' && value->tag == KW_TAG_STRING) {
        return string_text(arena, value->as.as_string, value->count);
    }
    return NULL;
}

// The same as the initialiser of an object, which types without literals have too.
static const char *initialiser(gen_arena *arena, char letter, const kw_value *value)
{
    if (letter == 'y' && value->tag == KW_TAG_INT) {
        const char *cast = value->as.as_int < 0 ? "(uint64_t)" : "";
        return gen_format(arena, "{%s%s}", cast, int_text(arena, value->as.as_int));
    }
    if (letter == 'c' && value->tag == KW_TAG_COMPLEX) {
        return gen_format(arena, "{%s, %s}", float_text(arena, value->as.as_complex->real),
                          float_text(arena, value->as.as_complex->imaginary));
    }
    if (letter == 'e' && value->tag == KW_TAG_DEVICE) {
        return gen_format(arena, "{%" PRIi32 ", %" PRIi32 "}", value->as.as_device.type,
                          value->as.as_device.index);
    }
    return literal(arena, letter, value);
}

// One element of a list, as a value; None if it is no number.
static kw_value element(const kw_value *list, uint32_t index)
{
    switch (list->tag) {
    case KW_TAG_INT_LIST:
    case KW_TAG_SYM_INT_LIST:
        return kw_value_int(list->as.as_ints[index]);
    case KW_TAG_FLOAT_LIST:
        return kw_value_float(list->as.as_floats[index]);
    case KW_TAG_BOOL_LIST:
        return kw_value_bool(list->as.as_bools[index]);
    default:
        return kw_value_none();
    }
}

static bool is_list(const kw_value *value)
{
    return value->tag == KW_TAG_INT_LIST || value->tag == KW_TAG_FLOAT_LIST ||
           value->tag == KW_TAG_BOOL_LIST || value->tag == KW_TAG_SYM_INT_LIST ||
           value->tag == KW_TAG_TENSOR_LIST || value->tag == KW_TAG_LIST;
}

// The initialiser of an empty list. The elements of another come first, in an object of their own;
// NULL if one cannot be written.
static const char *list_initialiser(gen_text *out, gen_arena *arena, const gen_form *form,
                                    const char *name, const kw_value *list)
{
    if (!is_list(list)) {
        return NULL;
    }
    if (list->count == 0) {
        return "{NULL, 0}";
    }
    const char *elements = "";
    for (uint32_t i = 0; i < list->count; i++) {
        const kw_value value = element(list, i);
        const char *text = initialiser(arena, form->element[0], &value);
        if (text == NULL) {
            return NULL;
        }
        elements = gen_format(arena, "%s%s%s", elements, i > 0 ? ", " : "", text);
    }
    const gen_form *type = gen_form_find(form->element);
    gen_add(out, "static const %s%s_data[] = {%s};\n", type->type, name, elements);
    return "";
}

// Writes a constant object of the form, which is no optional one; false if it cannot be written.
static bool add_object(gen_text *out, gen_arena *arena, const gen_form *form, const char *name,
                       const kw_value *value)
{
    const char *text = form->element != NULL ? list_initialiser(out, arena, form, name, value)
                                             : initialiser(arena, form->letter[0], value);
    if (text != NULL && form->element != NULL && value->count > 0) {
        gen_add_object(out, gen_format(arena, "static const %s%s", form->type, name),
                       gen_format(arena, "%s_data", name),
                       gen_format(arena, "%" PRIu32, value->count), NULL);
    } else if (text != NULL) {
        gen_add(out, "static const %s%s = %s;\n", form->type, name, text);
    }
    return text != NULL;
}

// The expression of a kw_value.
static const char *value_expression(gen_text *out, gen_arena *arena, const char *name,
                                    const kw_value *value)
{
    static const struct {
        uint32_t tag;
        const char *letter;
        const char *word;
    } kinds[] = {{KW_TAG_INT, "i", "int"},
                 {KW_TAG_FLOAT, "d", "float"},
                 {KW_TAG_BOOL, "b", "bool"},
                 {KW_TAG_STRING, "s", "string"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (value->tag == kinds[i].tag) {
            return gen_format(arena, "kw_value_%s(%s)", kinds[i].word,
                              literal(arena, kinds[i].letter[0], value));
        }
    }
    bool is_complex = value->tag == KW_TAG_COMPLEX;
    return is_complex && add_object(out, arena, gen_form_find("c"), name, value)
               ? gen_format(arena, "kw_value_complex(&%s)", name)
               : NULL;
}

// The expression of a default; objects that it needs are written first. NULL: it has none in C.
static const char *expression(gen_text *out, gen_arena *arena, const gen_form *form,
                              const char *name, const kw_value *value)
{
    char letter = form->letter[0];
    bool is_value = letter == 'n' || letter == 'v';
    if (value->tag == KW_TAG_NONE) {
        return is_value ? "kw_value_none()" : strchr("tsg?", letter) != NULL ? "NULL" : NULL;
    }
    if (is_value) {
        return value_expression(out, arena, name, value);
    }
    if (letter == '?') {
        const gen_form *base = gen_form_find(form->letter + 1);
        return add_object(out, arena, base, name, value) ? gen_format(arena, "(&%s)", name) : NULL;
    }
    if (form->element != NULL || letter == 'c' || letter == 'e' || letter == 'y') {
        return add_object(out, arena, form, name, value) ? name : NULL;
    }
    const char *text = literal(arena, letter, value);
    return text != NULL && text[0] == '-' ? gen_format(arena, "(%s)", text) : text;
}

static void add_constant(gen_text *out, gen_arena *arena, const gen_operator *op, uint32_t index)
{
    const gen_argument *arg = &op->args[index];
    const char *constant = gen_constant_name(arena, op, index);
    kw_value value;
    if (constant == NULL || kw_value_default(op->schema, index, &value, NULL) != KW_OK) {
        return;
    }
    const char *name = gen_format(arena, "%s_%s_default", op->id, arg->word);
    const char *text = expression(out, arena, arg->form, name, &value);
    if (text != NULL) {
        gen_add_macro_text(out, constant, text);
    }
    kw_value_release(&value, NULL);
}

void gen_add_constants(gen_text *out, gen_arena *arena, const gen_operator *op)
{
    gen_text constants = {.data = NULL};
    const char *list = "";
    for (uint32_t i = 0; i < op->arg_count; i++) {
        size_t length = kw_schema_default_format(op->schema, i, NULL, 0);
        if (length == 0) {
            continue;
        }
        char *text = gen_allocate(arena, length + 1);
        (void)kw_schema_default_format(op->schema, i, text, length + 1);
        list = gen_format(arena, "%s%s%s=%s", list, list[0] != '\0' ? ", " : "", op->args[i].word,
                          text);
        add_constant(&constants, arena, op, i);
    }
    if (list[0] != '\0') {
        gen_add(out, "\n");
        gen_add_comment(out, "//", gen_format(arena, "Defaults: %s.", list));
        gen_add_bytes(out, constants.data, constants.length);
    }
    gen_text_fini(&constants);
}
