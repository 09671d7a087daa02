// Numbers of the schema language, converted without the locale and with their limits checked.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_NUMBER_H
#define KWI_SCHEMA_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// All take the text of one KWI_TOKEN_NUMBER without its "j". Outputs are written on success only.

// Has a point or an exponent.
bool kwi_number_is_float(const char *text, size_t length);

// The integer, negated if asked; false beyond 64 bits. Digits only.
bool kwi_number_integer(const char *text, size_t length, bool negative, int64_t *out_integer);

// The nearest double; false when that is infinite.
bool kwi_number_double(const char *text, size_t length, double *out_number);

#endif // KWI_SCHEMA_NUMBER_H
