// Constants: words, conversion, comparison.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/constant.h"

#include <string.h>

#include "schema/literal.h"
#include "schema/number.h"

typedef struct word_number {
    const char *word;
    int64_t number;
} word_number;

// For every type; kept by the original for old schemas.
static const word_number common[] = {
    {"float", 6},   {"complex", 9}, {"long", 4},
    {"strided", 0}, {"Mean", 1},    {"contiguous_format", 0},
};

// The numbers of PyTorch's scalar types, and their older names.
static const word_number scalar_types_by_name[] = {
    {"uint8", 0},
    {"int8", 1},
    {"int16", 2},
    {"short", 2},
    {"int32", 3},
    {"int", 3},
    {"int64", 4},
    {"float16", 5},
    {"half", 5},
    {"float32", 6},
    {"float64", 7},
    {"double", 7},
    {"complex32", 8},
    {"chalf", 8},
    {"complex64", 9},
    {"cfloat", 9},
    {"complex128", 10},
    {"cdouble", 10},
    {"bool", 11},
    {"qint8", 12},
    {"quint8", 13},
    {"qint32", 14},
    {"bfloat16", 15},
    {"quint4x2", 16},
    {"quint2x4", 17},
    {"bits1x8", 18},
    {"bits2x4", 19},
    {"bits4x2", 20},
    {"bits8", 21},
    {"bits16", 22},
    {"float8_e5m2", 23},
    {"float8_e4m3fn", 24},
    {"float8_e5m2fnuz", 25},
    {"float8_e4m3fnuz", 26},
    {"uint16", 27},
    {"uint32", 28},
    {"uint64", 29},
    {"uint1", 30},
    {"bit", 30},
    {"uint2", 31},
    {"uint3", 32},
    {"uint4", 33},
    {"uint5", 34},
    {"uint6", 35},
    {"uint7", 36},
    {"int1", 37},
    {"int2", 38},
    {"int3", 39},
    {"int4", 40},
    {"int5", 41},
    {"int6", 42},
    {"int7", 43},
    {"float8_e8m0fnu", 44},
    {"float4_e2m1fn_x2", 45},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool find(const word_number *words, size_t count, const char *word, size_t length,
                 int64_t *out_number)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i].word) == length && memcmp(words[i].word, word, length) == 0) {
            *out_number = words[i].number;
            return true;
        }
    }
    return false;
}

bool kwi_constant_find(const char *word, size_t length, bool scalar_types, int64_t *out_number)
{
    return find(common, COUNT(common), word, length, out_number) ||
           (scalar_types &&
            find(scalar_types_by_name, COUNT(scalar_types_by_name), word, length, out_number));
}

const char *kwi_constant_word(int64_t number)
{
    for (size_t i = 0; i < COUNT(common); i++) {
        if (common[i].number == number) {
            return common[i].word;
        }
    }
    return NULL;
}

bool kwi_constant_number(const char *text, size_t length, bool negative, kw_type_kind expected,
                         kwi_constant *out_constant)
{
    bool imaginary = text[length - 1] == 'j';
    length -= imaginary ? 1 : 0;
    *out_constant = (kwi_constant){.kind = KWI_CONSTANT_INT};
    if (!imaginary && expected != KW_TYPE_FLOAT && !kwi_number_is_float(text, length)) {
        return kwi_number_integer(text, length, negative, &out_constant->as_int);
    }
    double number = 0;
    out_constant->kind = imaginary ? KWI_CONSTANT_COMPLEX : KWI_CONSTANT_FLOAT;
    if (!kwi_number_double(text, length, &number)) {
        return false;
    }
    out_constant->as_float = negative ? -number : number;
    return true;
}

size_t kwi_constant_string(const kwi_constant *constant, char *buffer, size_t size)
{
    kwi_literal literal;
    size_t length = 0;
    kwi_literal_open(&literal, constant->as_literal);
    for (int byte = kwi_literal_next(&literal); byte >= 0; byte = kwi_literal_next(&literal)) {
        if (length < size) {
            buffer[length] = (char)byte;
        }
        length++;
    }
    return length;
}

static uint64_t double_bits(double number)
{
    uint64_t bits = 0;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static bool equal_strings(kw_text_view a, kw_text_view b)
{
    kwi_literal literal_a;
    kwi_literal literal_b;
    kwi_literal_open(&literal_a, a);
    kwi_literal_open(&literal_b, b);
    for (;;) {
        int byte = kwi_literal_next(&literal_a);
        if (byte != kwi_literal_next(&literal_b)) {
            return false;
        }
        if (byte < 0) {
            return true;
        }
    }
}

bool kwi_constant_equal(const kwi_constant *a, const kwi_constant *b)
{
    if (a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case KWI_CONSTANT_BOOL:
        return a->as_bool == b->as_bool;
    case KWI_CONSTANT_INT:
        return a->as_int == b->as_int;
    case KWI_CONSTANT_FLOAT:
    case KWI_CONSTANT_COMPLEX:
        return double_bits(a->as_float) == double_bits(b->as_float);
    case KWI_CONSTANT_STRING:
        return equal_strings(a->as_literal, b->as_literal);
    case KWI_CONSTANT_DEVICE:
        return a->as_device.type == b->as_device.type && a->as_device.index == b->as_device.index;
    case KWI_CONSTANT_NONE:
        break;
    }
    return true;
}
