// Printing: defaults.
//
// A float always has a point or an exponent, so that it reads back as one. A repeated constant is
// written out as a list, but once in two cases: a list of int, as in the original, and one that is
// longer than LIST_SHOWN.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "schema/default.h"
#include "schema/device.h"
#include "schema/literal.h"
#include "schema/print.h"
#include "schema/schema.h"

#define LIST_SHOWN 64

// Doubles below this magnitude fit an int64_t.
#define INTEGRAL_LIMIT 9223372036854775808.0

// 17 digits tell every double from every other. The decimal point is the locale's, whatever bytes
// that has.
static void print_digits(double number, kwi_text *text)
{
    char digits[64];
    (void)snprintf(digits, sizeof digits, "%.17g", number);
    size_t whole = strspn(digits, "-0123456789");
    size_t point = strcspn(digits + whole, "0123456789e+-");
    kwi_text_add(text, "%.*s%s%s", (int)whole, digits, point > 0 ? "." : "",
                 digits + whole + point);
}

static void print_float(double number, kwi_text *text)
{
    if (number >= -INTEGRAL_LIMIT && number < INTEGRAL_LIMIT && (double)(int64_t)number == number) {
        bool negative_zero = number == 0 && 1 / number < 0;
        kwi_text_add(text, "%s%" PRId64 ".", negative_zero ? "-" : "", (int64_t)number);
    } else {
        print_digits(number, text);
    }
}

// Where numbers convert, an integer can only have been a word.
static void print_int(int64_t number, kw_type_kind expected, kwi_text *text)
{
    bool converts = expected == KW_TYPE_FLOAT || expected == KW_TYPE_COMPLEX;
    const char *word = converts ? kwi_constant_word(number) : NULL;
    if (word != NULL) {
        kwi_text_add(text, "%s", word);
    } else {
        kwi_text_add(text, "%" PRId64, number);
    }
}

static void print_constant(const kwi_constant *constant, kw_type_kind expected, kwi_text *text)
{
    switch (constant->kind) {
    case KWI_CONSTANT_NONE:
        kwi_text_add(text, "None");
        break;
    case KWI_CONSTANT_BOOL:
        kwi_text_add(text, constant->as_bool ? "True" : "False");
        break;
    case KWI_CONSTANT_INT:
        print_int(constant->as_int, expected, text);
        break;
    case KWI_CONSTANT_FLOAT:
        print_float(constant->as_float, text);
        break;
    case KWI_CONSTANT_COMPLEX:
        print_float(constant->as_float, text);
        kwi_text_add(text, "j");
        break;
    case KWI_CONSTANT_STRING:
        kwi_literal_print(constant->as_literal, text);
        break;
    case KWI_CONSTANT_DEVICE:
        kwi_text_add(text, "\"");
        kwi_device_print(constant->as_device, text);
        kwi_text_add(text, "\"");
        break;
    }
}

static bool all_equal(kwi_default reader)
{
    if (reader.repeated) {
        return true;
    }
    const kwi_constant first = kwi_default_next(&reader);
    for (uint32_t i = 1; i < reader.count; i++) {
        const kwi_constant constant = kwi_default_next(&reader);
        if (!kwi_constant_equal(&first, &constant)) {
            return false;
        }
    }
    return true;
}

static bool is_printed_once(const kwi_default *reader, const kw_type *list)
{
    kw_type_kind element = (kw_type_kind)kwi_type_child(list, 0)->kind;
    uint32_t shown = element == KW_TYPE_INT ? 1 : LIST_SHOWN;
    return list->sized && reader->count == kw_type_list_size(list) && reader->count > shown &&
           all_equal(*reader);
}

static void print_list(kwi_default *reader, kwi_text *text)
{
    kwi_text_add(text, "[");
    for (uint32_t i = 0; i < reader->count; i++) {
        const kwi_constant constant = kwi_default_next(reader);
        kwi_text_add(text, "%s", i > 0 ? ", " : "");
        print_constant(&constant, reader->expected, text);
    }
    kwi_text_add(text, "]");
}

void kwi_default_print(const kw_schema *schema, uint32_t arg_index, kwi_text *text)
{
    kwi_default reader;
    if (!kwi_default_open(schema, arg_index, &reader)) {
        return;
    }
    if (reader.is_list && !is_printed_once(&reader, &kwi_schema_types(schema)[arg_index])) {
        print_list(&reader, text);
        return;
    }
    const kwi_constant constant = kwi_default_next(&reader);
    print_constant(&constant, reader.expected, text);
}

size_t kw_schema_default_format(const kw_schema *schema, uint32_t arg_index, char *buffer,
                                size_t size)
{
    kwi_text text;
    kwi_text_init(&text, buffer, size);
    kwi_default_print(schema, arg_index, &text);
    return text.wanted;
}
