// Constants: what stands in the defaults of arguments, read and converted.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_CONSTANT_H
#define KWI_SCHEMA_CONSTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/schema.h>

typedef enum kwi_constant_kind {
    KWI_CONSTANT_NONE,
    KWI_CONSTANT_BOOL,
    KWI_CONSTANT_INT,
    KWI_CONSTANT_FLOAT,
    KWI_CONSTANT_COMPLEX, // `as_float` is the imaginary part; the real one is 0
    KWI_CONSTANT_STRING,  // see kwi_constant_string()
    KWI_CONSTANT_DEVICE
} kwi_constant_kind;

typedef struct kwi_device {
    int32_t type;  // as PyTorch numbers them: CPU 0, CUDA 1
    int32_t index; // -1: none written
} kwi_device;

typedef struct kwi_constant {
    kwi_constant_kind kind;
    bool word; // it was written as a word, such as "Mean"
    union {
        bool as_bool;
        int64_t as_int;
        double as_float;
        kwi_device as_device;
        kw_text_view as_literal; // of a string: with its quotes and escapes, borrowed
    };
} kwi_constant;

// Finds the number of a word; of the name of a scalar type only if `scalar_types` is set.
bool kwi_constant_find(const char *word, size_t length, bool scalar_types, int64_t *out_number);

// The word of a number, or NULL; it is no name of a scalar type.
const char *kwi_constant_word(int64_t number);

// Converts the text of one KWI_TOKEN_NUMBER for a place of the (fake) type `expected`. A float
// gets a float of any number and a complex an imaginary one; other places take what the number
// looks like. False if it does not fit; `kind` then still says what it would have been.
bool kwi_constant_number(const char *text, size_t length, bool negative, kw_type_kind expected,
                         kwi_constant *out_constant);

// Writes the bytes that a string stands for, as many as `size` allows and no zero behind them, and
// returns how many there are.
size_t kwi_constant_string(const kwi_constant *constant, char *buffer, size_t size);

// Do two constants have the same kind and the same value, bit by bit?
bool kwi_constant_equal(const kwi_constant *a, const kwi_constant *b);

#endif // KWI_SCHEMA_CONSTANT_H
