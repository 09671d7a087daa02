// Types printed: as the language writes them.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "base/assert.h"
#include "schema/alias.h"
#include "schema/type.h"

static void print_members(const kw_type *type, bool annotated, kwi_text *text)
{
    const char *word = kwi_type_kind_word((kw_type_kind)type->kind);
    kwi_text_add(text, "%s(", word != NULL ? word : ""); // a tuple has no word
    for (uint32_t i = 0; i < type->child_count; i++) {
        kwi_text_add(text, "%s", i > 0 ? ", " : "");
        kwi_type_print(kwi_type_child(type, i), annotated, text);
    }
    kwi_text_add(text, ")");
}

static void print_suffix(const kw_type *type, kwi_text *text)
{
    if (type->sized) {
        kwi_text_add(text, "[%u]", (unsigned)kw_type_list_size(type));
    } else {
        kwi_text_add(text, type->kind == KW_TYPE_LIST ? "[]" : "?");
    }
}

void kwi_type_print(const kw_type *type, bool annotated, kwi_text *text)
{
    switch ((int)type->kind) {
    case KW_TYPE_LIST:
    case KW_TYPE_OPTIONAL:
        kwi_type_print(kwi_type_child(type, 0), annotated, text);
        print_suffix(type, text);
        break;
    case KW_TYPE_TUPLE:
    case KW_TYPE_DICT:
    case KW_TYPE_UNION:
    case KW_TYPE_FUTURE:
    case KW_TYPE_RREF:
    case KW_TYPE_AWAIT:
        print_members(type, annotated, text);
        break;
    case KW_TYPE_CLASS:
    case KW_TYPE_VARIABLE: {
        const kw_text_view name = kw_type_name(type);
        kwi_text_add(text, "%.*s", (int)name.length, name.data);
        break;
    }
    default:
        kwi_text_add(text, "%s", kwi_type_kind_word((kw_type_kind)type->kind));
        break;
    }
    if (annotated) {
        kwi_alias_print(type, text);
    }
}

size_t kw_type_format(const kw_type *type, char *buffer, size_t size)
{
    kwi_text text;
    kwi_text_init(&text, buffer, size);
    kwi_type_print(type, false, &text);
    return text.wanted;
}
