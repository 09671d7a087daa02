// Checking values: does a value fit a type of the schema language, and if not, what is wrong.
//
// Layer:   value
// Threads: any.
// SPDX-License-Identifier: MIT
//
// The recursion goes down the type, which has KWI_TYPE_DEPTH_MAX levels at most.

#include "value/check.h"

#include <string.h>

#include "base/text.h"
#include "schema/type.h"
#include "value/form.h"
#include "value/object.h"

// What does not fit, and where it is: the indices of the elements that lead to it, the innermost
// first.
typedef struct misfit {
    const kw_value *value;
    const kw_type *type;
    const char *clause; // what is wrong if not the tag; NULL
    uint32_t depth;
    uint32_t path[KWI_TYPE_DEPTH_MAX];
} misfit;

static bool fits(const kw_value *value, const kw_type *type, misfit *found);

static bool miss(const kw_value *value, const kw_type *type, misfit *found)
{
    found->value = value;
    found->type = type;
    found->clause = NULL;
    found->depth = 0;
    return false;
}

static bool miss_for(const kw_value *value, const kw_type *type, const char *clause, misfit *found)
{
    (void)miss(value, type, found);
    found->clause = clause;
    return false;
}

static uint64_t bit(kw_tag_code tag)
{
    return UINT64_C(1) << tag;
}

// The tags that values of a type without parts may have.
static uint64_t plain_tags(kw_type_kind kind)
{
    switch ((int)kwi_type_kind_fake(kind)) {
    case KW_TYPE_TENSOR:
        return bit(KW_TAG_TENSOR) | bit(KW_TAG_NONE);
    case KW_TYPE_QSCHEME:
        return bit(KW_TAG_INT);
    case KW_TYPE_INT:
        return kind == KW_TYPE_SYM_INT ? bit(KW_TAG_INT) | bit(KW_TAG_SYM_INT) : bit(KW_TAG_INT);
    case KW_TYPE_FLOAT:
        return bit(KW_TAG_FLOAT) | bit(KW_TAG_INT);
    case KW_TYPE_BOOL:
        return bit(KW_TAG_BOOL);
    case KW_TYPE_SYM_BOOL:
        return bit(KW_TAG_BOOL) | bit(KW_TAG_SYM_BOOL);
    case KW_TYPE_STRING:
        return bit(KW_TAG_STRING);
    case KW_TYPE_COMPLEX:
        return bit(KW_TAG_COMPLEX);
    case KW_TYPE_SCALAR:
        return kwi_forms[KWI_C_NUMBER].arg_tags & ~bit(KW_TAG_NONE);
    case KW_TYPE_DEVICE:
        return bit(KW_TAG_DEVICE);
    case KW_TYPE_GENERATOR:
        return bit(KW_TAG_GENERATOR);
    case KW_TYPE_NONE:
        return bit(KW_TAG_NONE);
    case KW_TYPE_ANY:
    case KW_TYPE_VARIABLE:
        return kwi_forms[KWI_C_VALUE].arg_tags;
    default:
        return bit(KW_TAG_OBJECT); // storages, streams, classes, futures, ...
    }
}

// A class names its objects.
static bool fits_class(const kw_value *value, const kw_type *type, misfit *found)
{
    kw_text_view name = kw_type_name(type);
    const char *there = kw_object_type_name(value->as.as_object);
    if (strlen(there) == name.length && memcmp(there, name.data, name.length) == 0) {
        return true;
    }
    return miss_for(value, type, "is an object of another type", found);
}

static bool fits_plain(const kw_value *value, const kw_type *type, misfit *found)
{
    kw_type_kind kind = kw_type_kind_of(type);
    if (!kwi_tag_in(plain_tags(kind), value->tag)) {
        return miss(value, type, found);
    }
    if (kind == KW_TYPE_CLASS) {
        return fits_class(value, type, found);
    }
    const char *clause = NULL;
    if (kind == KW_TYPE_SYM_INT && kwi_form_look(KWI_C_SYM_INT, value, &clause) != KW_OK) {
        return miss_for(value, type, clause, found);
    }
    return true;
}

// The form of a list of these elements, which has a tag of its own; KWI_C_VALUE_LIST: it has none.
static kwi_c_form list_form(const kw_type *element)
{
    kw_type_kind kind = kw_type_kind_of(element);
    if (kind == KW_TYPE_OPTIONAL && kw_type_kind_of(kw_type_child(element, 0)) == KW_TYPE_TENSOR) {
        return KWI_C_TENSOR_LIST;
    }
    switch ((int)kwi_type_kind_fake(kind)) {
    case KW_TYPE_TENSOR:
        return KWI_C_TENSOR_LIST;
    case KW_TYPE_INT:
    case KW_TYPE_QSCHEME:
        return kind == KW_TYPE_SYM_INT ? KWI_C_SYM_INT_LIST : KWI_C_INT_LIST;
    case KW_TYPE_FLOAT:
        return KWI_C_FLOAT_LIST;
    case KW_TYPE_BOOL:
        return KWI_C_BOOL_LIST;
    default:
        return KWI_C_VALUE_LIST;
    }
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool fits_element(const kw_value *value, uint64_t index, const kw_type *type, misfit *found)
{
    if (fits(&value->as.as_values[index], type, found)) {
        return true;
    }
    if (found->depth < KWI_TYPE_DEPTH_MAX) {
        found->path[found->depth++] = (uint32_t)index;
    }
    return false;
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool fits_list(const kw_value *value, const kw_type *type, misfit *found)
{
    const kw_type *element = kw_type_child(type, 0);
    kwi_c_form form = list_form(element);
    if (!kwi_tag_in(kwi_forms[form].arg_tags, value->tag)) {
        return miss(value, type, found);
    }
    const char *clause = NULL;
    if (kwi_form_look((uint8_t)form, value, &clause) != KW_OK) {
        return miss_for(value, type, clause, found);
    }
    for (uint32_t i = 0; form == KWI_C_VALUE_LIST && i < value->count; i++) {
        if (!fits_element(value, i, element, found)) {
            return false;
        }
    }
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool fits_tuple(const kw_value *value, const kw_type *type, misfit *found)
{
    if (value->tag != KW_TAG_TUPLE) {
        return miss(value, type, found);
    }
    uint32_t count = kw_type_child_count(type);
    if (value->count != count) {
        return miss_for(value, type, "is a tuple of another length", found);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!fits_element(value, i, kw_type_child(type, i), found)) {
            return false;
        }
    }
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool fits_dict(const kw_value *value, const kw_type *type, misfit *found)
{
    if (value->tag != KW_TAG_DICT) {
        return miss(value, type, found);
    }
    for (uint64_t i = 0; i < kwi_element_count(KW_TAG_DICT, value->count); i++) {
        if (!fits(&value->as.as_values[i], kw_type_child(type, i % 2), found)) {
            if (found->depth < KWI_TYPE_DEPTH_MAX) {
                found->path[found->depth++] = (uint32_t)(i / 2);
            }
            return false;
        }
    }
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool fits_any_of(const kw_value *value, const kw_type *type, misfit *found)
{
    for (uint32_t i = 0; i < kw_type_child_count(type); i++) {
        if (fits(value, kw_type_child(type, i), found)) {
            return true;
        }
    }
    return miss(value, type, found);
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool fits_optional(const kw_value *value, const kw_type *type, misfit *found)
{
    if (value->tag == KW_TAG_NONE || fits(value, kw_type_child(type, 0), found)) {
        return true;
    }
    found->type = found->depth == 0 ? type : found->type;
    return false;
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool fits(const kw_value *value, const kw_type *type, misfit *found)
{
    switch ((int)kw_type_kind_of(type)) {
    case KW_TYPE_OPTIONAL:
        return fits_optional(value, type, found);
    case KW_TYPE_UNION:
        return fits_any_of(value, type, found);
    case KW_TYPE_LIST:
        return fits_list(value, type, found);
    case KW_TYPE_TUPLE:
        return fits_tuple(value, type, found);
    case KW_TYPE_DICT:
        return fits_dict(value, type, found);
    default:
        return fits_plain(value, type, found);
    }
}

kw_status kwi_value_check(const kw_value *value, const kw_type *type, const char *subject,
                          kw_error *err)
{
    misfit found;
    if (KW_LIKELY(fits(value, type, &found))) {
        return KW_OK;
    }
    char sentence[KW_ERROR_BYTES];
    kwi_text text;
    kwi_text_init(&text, sentence, sizeof sentence);
    for (uint32_t i = 0; i < found.depth; i++) {
        kwi_text_add(&text, "element %lu of ", (unsigned long)found.path[i] + 1);
    }
    kwi_text_add(&text, "%s ", subject);
    if (found.clause != NULL) {
        kwi_text_add(&text, "%s", found.clause);
    } else {
        kwi_text_add(&text, "is %s", kw_tag_name(found.value->tag));
    }
    kwi_text_add(&text, ", but the schema says ");
    kwi_type_print(found.type, false, &text);
    return kwi_fail(err, KW_WRONG_VALUE, "%s", sentence);
}

kw_status kw_value_check(const kw_value *value, const kw_type *type, kw_error *err)
{
    if (value == NULL || type == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "a check needs a value and a type");
    }
    return kwi_value_check(value, type, "the value", err);
}
