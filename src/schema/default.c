// Defaults: reading the constants again from the schema's text, which has been checked.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/default.h"

#include <string.h>

#include "base/assert.h"
#include "schema/device.h"
#include "schema/schema.h"

// Bytes of a device's name; longer ones did not parse.
#define DEVICE_BYTES 32

static void set_place(kwi_default *reader, const kw_type *type)
{
    bool optional = type->kind == KW_TYPE_OPTIONAL;
    reader->is_list = type->kind == KW_TYPE_LIST;
    if (optional || reader->is_list) {
        type = kwi_type_child(type, 0);
    }
    kw_type_kind kind = (kw_type_kind)type->kind;
    reader->scalar_types = kind == KW_TYPE_SCALAR_TYPE;
    reader->expected = optional ? KW_TYPE_ANY : kwi_type_kind_fake(kind);
    reader->element = reader->expected;
}

// The elements written in a list; the reader is left before the first.
static uint32_t count_elements(kwi_default *reader)
{
    uint32_t count = 0;
    (void)kwi_lexer_next(&reader->lexer); // '['
    kwi_lexer ahead = reader->lexer;
    for (kwi_token token = kwi_lexer_next(&ahead); token.kind != ']';
         token = kwi_lexer_next(&ahead)) {
        count += token.kind != ',' && token.kind != '-' ? 1 : 0;
    }
    return count;
}

bool kwi_default_open(const kw_schema *schema, uint32_t arg_index, kwi_default *out_default)
{
    KWI_ASSERT(arg_index < schema->arg_count);
    const kw_text_view written = kwi_schema_arg_default(schema, arg_index);
    const kw_type *type = &kwi_schema_types(schema)[arg_index];
    if (written.length == 0) {
        return false;
    }
    *out_default = (kwi_default){.count = 1};
    kwi_lexer_init(&out_default->lexer, written.data, (uint32_t)written.length);
    out_default->lexer.nesting = 1; // of the arguments' parenthesis, where a newline is a blank
    set_place(out_default, type);
    out_default->repeated = out_default->is_list && written.data[0] != '[';
    if (out_default->repeated) {
        out_default->count = kw_type_list_size(type);
    } else if (out_default->is_list) {
        out_default->count = count_elements(out_default);
    }
    return true;
}

static kwi_constant read_device(kw_text_view literal)
{
    kwi_constant constant = {.kind = KWI_CONSTANT_STRING, .as_literal = literal};
    char name[DEVICE_BYTES];
    kwi_device device = {.type = 0};
    size_t length = kwi_constant_string(&constant, name, sizeof name);
    bool parsed = kwi_device_parse(name, length, &device);
    KWI_ASSERT(parsed);
    return (kwi_constant){.kind = KWI_CONSTANT_DEVICE, .as_device = device};
}

static kwi_constant read_string(const kwi_default *reader, kw_text_view literal)
{
    if (reader->expected == KW_TYPE_DEVICE) {
        return read_device(literal);
    }
    return (kwi_constant){.kind = KWI_CONSTANT_STRING, .as_literal = literal};
}

static kwi_constant read_keyword(const char *text)
{
    if (text[0] == 'N') {
        return (kwi_constant){.kind = KWI_CONSTANT_NONE};
    }
    return (kwi_constant){.kind = KWI_CONSTANT_BOOL, .as_bool = text[0] == 'T'};
}

// Takes "-" and "," on the way to the constant.
static kwi_token next_token(kwi_lexer *lexer, bool *out_negative)
{
    kwi_token token = kwi_lexer_next(lexer);
    for (*out_negative = false; token.kind == ',' || token.kind == '-';
         token = kwi_lexer_next(lexer)) {
        *out_negative = token.kind == '-';
    }
    return token;
}

kwi_constant kwi_default_next(kwi_default *reader)
{
    kwi_lexer lexer = reader->lexer;
    bool negative = false;
    const kwi_token token = next_token(&lexer, &negative);
    const char *text = lexer.text + token.offset;
    kwi_constant constant = {.kind = KWI_CONSTANT_INT, .word = true};
    bool read = true;
    if (token.kind == KWI_TOKEN_KEYWORD) {
        constant = read_keyword(text);
    } else if (token.kind == KWI_TOKEN_STRING) {
        constant = read_string(reader, (kw_text_view){text, token.length});
    } else if (token.kind == KWI_TOKEN_IDENTIFIER) {
        read = kwi_constant_find(text, token.length, reader->scalar_types, &constant.as_int);
    } else {
        KWI_ASSERT(token.kind == KWI_TOKEN_NUMBER);
        read = kwi_constant_number(text, token.length, negative, reader->expected, &constant);
    }
    KWI_ASSERT(read);
    if (!reader->repeated) {
        reader->lexer = lexer;
    }
    return constant;
}
