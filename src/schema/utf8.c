// UTF-8: the table of well-formed sequences (Unicode 15, table 3-7).
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/utf8.h"

#include <stdbool.h>

// Sequences that begin with a byte from `first` to `last` have `length` bytes, and their second
// byte lies from `low` to `high`. The others lie from 0x80 to 0xBF.
typedef struct sequence {
    uint8_t first;
    uint8_t last;
    uint8_t length;
    uint8_t low;
    uint8_t high;
} sequence;

static const sequence sequences[] = {
    {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF}, {0xE1, 0xEC, 3, 0x80, 0xBF},
    {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF}, {0xF0, 0xF0, 4, 0x90, 0xBF},
    {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F},
};

static bool is_well_formed(const unsigned char *bytes, size_t length, const sequence *row)
{
    if (length < row->length || bytes[1] < row->low || bytes[1] > row->high) {
        return false;
    }
    for (uint32_t i = 2; i < row->length; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
            return false;
        }
    }
    return true;
}

uint32_t kwi_utf8_length(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (length == 0) {
        return 0;
    }
    if (bytes[0] < 0x80) {
        return 1;
    }
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        const sequence *row = &sequences[i];
        if (bytes[0] >= row->first && bytes[0] <= row->last) {
            return is_well_formed(bytes, length, row) ? row->length : 0;
        }
    }
    return 0;
}
