// Equality of values, and looking up a dict's key.
//
// Layer:   value
// Threads: any.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "value/object.h"

// Levels of nesting that a comparison goes into. The last element of a list takes no level.
#define LEVELS_MAX 128

// Values still to compare, side by side. Of a dict, `a` is at a key and `dict` is the other dict.
typedef struct level {
    const kw_value *a;
    const kw_value *b;
    const kw_value *dict;
    uint64_t left;
} level;

static bool same_bytes(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

static bool same_floats(const kw_value *a, const kw_value *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        if (!(a->as.as_floats[i] == b->as.as_floats[i])) {
            return false;
        }
    }
    return true;
}

static bool same_complex(const kw_complex *a, const kw_complex *b)
{
    return a->real == b->real && a->imaginary == b->imaginary;
}

// Of two values with one tag and count that hold no values.
static bool same_contents(const kw_value *a, const kw_value *b)
{
    switch (a->tag) {
    case KW_TAG_NONE:
        return true;
    case KW_TAG_BOOL:
        return a->as.as_bool == b->as.as_bool;
    case KW_TAG_INT:
        return a->as.as_int == b->as.as_int;
    case KW_TAG_FLOAT:
        return a->as.as_float == b->as.as_float;
    case KW_TAG_DEVICE:
        return a->as.as_device.type == b->as.as_device.type &&
               a->as.as_device.index == b->as.as_device.index;
    case KW_TAG_COMPLEX:
        return same_complex(a->as.as_complex, b->as.as_complex);
    case KW_TAG_STRING:
        return same_bytes(a->as.as_string, b->as.as_string, a->count);
    case KW_TAG_FLOAT_LIST:
        return same_floats(a, b);
    case KW_TAG_TENSOR_LIST:
    case KW_TAG_INT_LIST:
    case KW_TAG_BOOL_LIST:
    case KW_TAG_SYM_INT_LIST:
        return same_bytes(a->as.as_ints, b->as.as_ints, kwi_payload_bytes(a->tag, a->count));
    case KW_TAG_TENSOR:
    case KW_TAG_GENERATOR:
    case KW_TAG_SYM_INT:
    case KW_TAG_SYM_BOOL:
    case KW_TAG_OBJECT:
        return a->as.as_object == b->as.as_object;
    default:
        return false;
    }
}

static bool same_kind(const kw_value *a, const kw_value *b)
{
    return a->tag == b->tag && a->count == b->count;
}

static bool is_key(const kw_value *key)
{
    return key->tag == KW_TAG_INT || key->tag == KW_TAG_FLOAT || key->tag == KW_TAG_BOOL ||
           key->tag == KW_TAG_STRING;
}

const kw_value *kw_value_dict_find(const kw_value *dict, const kw_value *key)
{
    if (dict == NULL || key == NULL || dict->tag != KW_TAG_DICT || !is_key(key)) {
        return NULL;
    }
    for (uint64_t i = 0; i < dict->count; i++) {
        const kw_value *there = &dict->as.as_values[2 * i];
        if (same_kind(there, key) && same_contents(there, key)) {
            return there + 1;
        }
    }
    return NULL;
}

// Takes the next two values off a level; false if the other dict has no such key.
static bool take(level *from, const kw_value **out_a, const kw_value **out_b)
{
    from->left--;
    if (from->dict == NULL) {
        *out_a = from->a++;
        *out_b = from->b++;
        return true;
    }
    *out_a = from->a + 1;
    *out_b = kw_value_dict_find(from->dict, from->a);
    from->a += 2;
    return *out_b != NULL;
}

bool kw_value_equal(const kw_value *a, const kw_value *b)
{
    level levels[LEVELS_MAX];
    levels[0] = (level){.a = a, .b = b, .left = 1};
    unsigned depth = 1;
    while (depth > 0) {
        level *top = &levels[depth - 1];
        const kw_value *left = NULL;
        const kw_value *right = NULL;
        if (!take(top, &left, &right) || !same_kind(left, right)) {
            return false;
        }
        depth -= top->left == 0 ? 1 : 0;
        if (kwi_element_count(left->tag, left->count) > 0) {
            if (depth == LEVELS_MAX) {
                return false;
            }
            levels[depth++] = (level){.a = left->as.as_values,
                                      .b = right->as.as_values,
                                      .dict = left->tag == KW_TAG_DICT ? right : NULL,
                                      .left = left->count};
        } else if (kwi_element_count(left->tag, 1) == 0 && !same_contents(left, right)) {
            return false;
        }
    }
    return true;
}
