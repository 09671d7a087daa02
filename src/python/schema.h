// Schemas: parsed declarations that operators share, and the type Schema.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_SCHEMA_H
#define KWI_PYTHON_SCHEMA_H

#include <stdbool.h>

#include <keyway/schema.h>
#include <keyway/value.h>

#include "python/python.h"

// A Schema. What a call needs of each argument is read once: types and names.
typedef struct kwpy_schema {
    PyObject base;
    kw_schema *schema;      // guard: immutable
    char *text;             // as it was given
    PyObject *names;        // of the arguments, a tuple
    kw_value *defaults;     // of the arguments, owned, made when first asked for
    uint64_t defaults_made; // bit n: argument n
    uint32_t arg_count;
    uint32_t return_count;
    uint32_t positional_count; // arguments that are not keyword-only
    uint8_t is_vararg;
} kwpy_schema;

// Makes a Schema of a text. NULL with an exception.
kwpy_schema *kwpy_schema_new(const char *text);

// The default of an argument, borrowed from the Schema; NULL: it has none, or with an exception.
const kw_value *kwpy_schema_default(kwpy_schema *self, uint32_t index);

bool kwpy_schema_has_default(const kwpy_schema *self, uint32_t index);

#endif // KWI_PYTHON_SCHEMA_H
