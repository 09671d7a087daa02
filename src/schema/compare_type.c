// Types compared: order, equality, compatibility.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "schema/alias.h"
#include "schema/type.h"

// The original sorts the members of a union by these numbers of kinds of its own, then by text.
static const uint8_t ranks[] = {
    [KW_TYPE_ANY] = 1,           [KW_TYPE_ANY_ENUM] = 2,       [KW_TYPE_TENSOR] = 3,
    [KW_TYPE_STORAGE] = 4,       [KW_TYPE_TUPLE] = 5,          [KW_TYPE_LIST] = 6,
    [KW_TYPE_DICT] = 7,          [KW_TYPE_SCALAR] = 8,         [KW_TYPE_FLOAT] = 9,
    [KW_TYPE_COMPLEX] = 10,      [KW_TYPE_FUTURE] = 11,        [KW_TYPE_AWAIT] = 12,
    [KW_TYPE_RREF] = 13,         [KW_TYPE_INT] = 14,           [KW_TYPE_SYM_INT] = 14,
    [KW_TYPE_LAYOUT] = 14,       [KW_TYPE_MEMORY_FORMAT] = 14, [KW_TYPE_SCALAR_TYPE] = 14,
    [KW_TYPE_DEVICE_INDEX] = 14, [KW_TYPE_NONE] = 15,          [KW_TYPE_STRING] = 16,
    [KW_TYPE_GENERATOR] = 17,    [KW_TYPE_QUANTIZER] = 18,     [KW_TYPE_BOOL] = 19,
    [KW_TYPE_OPTIONAL] = 20,     [KW_TYPE_VARIABLE] = 21,      [KW_TYPE_DEVICE] = 22,
    [KW_TYPE_STREAM] = 23,       [KW_TYPE_CLASS] = 24,         [KW_TYPE_CAPSULE] = 25,
    [KW_TYPE_QSCHEME] = 26,      [KW_TYPE_ANY_CLASS] = 27,     [KW_TYPE_SYM_BOOL] = 28,
    [KW_TYPE_UNION] = 29,
};

// Bytes compared of a member's text; beyond them structure decides.
#define TEXT_BYTES 256

static int order_names(const kw_type *a, const kw_type *b)
{
    if (a->kind != KW_TYPE_CLASS && a->kind != KW_TYPE_VARIABLE) {
        return 0;
    }
    const kw_text_view name_a = kw_type_name(a);
    const kw_text_view name_b = kw_type_name(b);
    size_t common = name_a.length < name_b.length ? name_a.length : name_b.length;
    int difference = memcmp(name_a.data, name_b.data, common);
    return difference != 0 ? difference : (int)name_a.length - (int)name_b.length;
}

static int order_sizes(const kw_type *a, const kw_type *b)
{
    uint32_t size_a = kw_type_list_size(a);
    uint32_t size_b = kw_type_list_size(b);
    return a->sized != b->sized ? a->sized - b->sized : (size_a > size_b) - (size_a < size_b);
}

// Node by node: any order will do that is 0 for equality only.
static int order_structure(const kw_type *a, const kw_type *b)
{
    int difference = a->kind - b->kind;
    difference = difference != 0 ? difference : a->child_count - b->child_count;
    difference = difference != 0 ? difference : order_sizes(a, b);
    difference = difference != 0 ? difference : order_names(a, b);
    difference = difference != 0 ? difference : kwi_alias_order(a, b);
    for (uint32_t i = 0; difference == 0 && i < a->child_count; i++) {
        difference = order_structure(kwi_type_child(a, i), kwi_type_child(b, i));
    }
    return difference;
}

int kwi_type_order(const kw_type *a, const kw_type *b)
{
    if (ranks[a->kind] != ranks[b->kind]) {
        return ranks[a->kind] - ranks[b->kind];
    }
    char text_a[TEXT_BYTES];
    char text_b[TEXT_BYTES];
    (void)kw_type_format(a, text_a, sizeof text_a);
    (void)kw_type_format(b, text_b, sizeof text_b);
    int difference = strcmp(text_a, text_b);
    return difference != 0 ? difference : order_structure(a, b);
}

bool kwi_type_equal(const kw_type *a, const kw_type *b)
{
    return order_structure(a, b) == 0;
}

static kw_type_kind comparable_kind(const kw_type *type)
{
    bool integer = type->kind == KW_TYPE_SYM_INT || type->kind == KW_TYPE_DEVICE_INDEX;
    return integer ? KW_TYPE_INT : (kw_type_kind)type->kind;
}

bool kwi_type_compatible(const kw_type *a, const kw_type *b)
{
    bool same = comparable_kind(a) == comparable_kind(b) && a->child_count == b->child_count &&
                order_names(a, b) == 0;
    for (uint32_t i = 0; same && i < a->child_count; i++) {
        same = kwi_type_compatible(kwi_type_child(a, i), kwi_type_child(b, i));
    }
    return same;
}
