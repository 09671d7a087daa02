// Words that stand for numbers in defaults.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_CONSTANT_H
#define KWI_SCHEMA_CONSTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Finds the number of a word; of the name of a scalar type only if `scalar_types` is set.
bool kwi_constant_find(const char *word, size_t length, bool scalar_types, int64_t *out_number);

#endif // KWI_SCHEMA_CONSTANT_H
