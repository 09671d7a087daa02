// Units: what one run of the generator is about, its options and its operators.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_GEN_UNIT_H
#define KWI_GEN_UNIT_H

#include <stdbool.h>
#include <stddef.h>

#include "gen/operator.h"
#include "gen/text.h"

// What the command line says. Borrowed from it, but for what is made up of the rest.
typedef struct gen_options {
    const char *file;        // of the operators
    const char *folder;      // for the outputs
    const char *stem;        // of the outputs' names and of the names in them; an identifier
    const char *ns;          // of operators without a namespace; NULL: there must be none
    const char *tensor_type; // such as "void" or "struct my_tensor"
    const char *tensor_keys; // the function that reads a tensor's keys; NULL: the dispatcher's
    const char **includes;   // as they stand behind #include
    size_t include_count;
} gen_options;

typedef struct gen_unit {
    gen_options options;
    const char *file_name; // the last part of the path, for texts and comments
    gen_operator *ops;
    size_t op_count;
    size_t op_capacity;
    gen_arena arena;
    bool has_failed; // a line was told to be wrong
} gen_unit;

void gen_unit_fini(gen_unit *unit);

// Reads the file of operators; tells what is wrong with it on standard error. False: it could not
// be read.
bool gen_unit_read(gen_unit *unit);

// Tells of everything that two of the operators would name alike.
void gen_unit_check_names(gen_unit *unit);

// Tells, on standard error, that a place of the file is wrong.
void gen_unit_fail(gen_unit *unit, uint32_t line, uint32_t column, const char *format, ...)
    KW_PRINTF(4, 5);

// The outputs.
void gen_add_header(gen_text *out, gen_unit *unit);
void gen_add_source(gen_text *out, gen_unit *unit);

#endif // KWI_GEN_UNIT_H
