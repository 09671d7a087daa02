// Words that stand for numbers in defaults: the tables.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/constant.h"

#include <string.h>

typedef struct constant {
    const char *word;
    int64_t number;
} constant;

// For every type; kept by the original for old schemas.
static const constant common[] = {
    {"float", 6},   {"complex", 9}, {"long", 4},
    {"strided", 0}, {"Mean", 1},    {"contiguous_format", 0},
};

// The numbers of PyTorch's scalar types.
static const constant scalar_type_names[] = {
    {"uint8", 0},
    {"int8", 1},
    {"int16", 2},
    {"int32", 3},
    {"int64", 4},
    {"float16", 5},
    {"float32", 6},
    {"float64", 7},
    {"complex32", 8},
    {"complex64", 9},
    {"complex128", 10},
    {"bool", 11},
    {"qint8", 12},
    {"quint8", 13},
    {"qint32", 14},
    {"bfloat16", 15},
    {"quint4x2", 16},
    {"quint2x4", 17},
    {"float8_e5m2", 23},
    {"float8_e4m3fn", 24},
    {"float8_e5m2fnuz", 25},
    {"float8_e4m3fnuz", 26},
    {"uint16", 27},
    {"uint32", 28},
    {"uint64", 29},
};

static bool find(const constant *constants, size_t count, const char *word, size_t length,
                 int64_t *out_number)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(constants[i].word) == length && memcmp(constants[i].word, word, length) == 0) {
            *out_number = constants[i].number;
            return true;
        }
    }
    return false;
}

bool kwi_constant_find(const char *word, size_t length, bool scalar_types, int64_t *out_number)
{
    const size_t name_count = sizeof scalar_type_names / sizeof scalar_type_names[0];
    const size_t common_count = sizeof common / sizeof common[0];
    return (scalar_types && find(scalar_type_names, name_count, word, length, out_number)) ||
           find(common, common_count, word, length, out_number);
}
