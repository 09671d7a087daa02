// Defaults: the constants that the default of an argument stands for, as values are made of them.
//
// Layer:   schema
// Threads: a reader belongs to one thread, and ends with its schema.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_DEFAULT_H
#define KWI_SCHEMA_DEFAULT_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/schema.h>

#include "schema/constant.h"
#include "schema/lexer.h"

// A default is one constant, or a list of constants. "int[2] k=1" is a list of two ones: a
// repeated constant is read as often as the list is long, which may be 4,294,967,295 times.
//
// Constants are converted as the argument's type asks: "float x=3" reads 3.0, "int x=1e3" a float,
// "Device d='cuda:0'" a device. An optional takes its constant as it looks: "float? x=3" reads the
// integer and "Device? d='cuda:0'" the string.
typedef struct kwi_default {
    bool is_list;
    uint32_t count;       // constants to read: of a list its elements, else 1
    kw_type_kind element; // of a list: KW_TYPE_INT, _FLOAT, _BOOL or _COMPLEX

    // Private to the reader.
    kwi_lexer lexer;
    kw_type_kind expected; // of a constant; a fake kind
    bool scalar_types;     // names of scalar types are numbers
    bool repeated;         // one constant stands for all
} kwi_default;

// Stands before the first constant. False if the argument has no default.
bool kwi_default_open(const kw_schema *schema, uint32_t arg_index, kwi_default *out_default);

// Reads one constant; at most `count` times.
kwi_constant kwi_default_next(kwi_default *reader);

#endif // KWI_SCHEMA_DEFAULT_H
