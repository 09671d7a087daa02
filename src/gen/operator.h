// Operators as the generator sees them: a schema, and the C names that come of it.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_GEN_OPERATOR_H
#define KWI_GEN_OPERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/schema.h>

#include "gen/form.h"
#include "gen/text.h"

// An argument, or a return.
typedef struct gen_argument {
    const gen_form *form;
    const char *name; // of the C parameter
    const char *word; // of the schema; "" for an unnamed return
    bool is_written;  // its alias annotation has "!"
} gen_argument;

// One operator. Strings live in the arena it was made in; the schema is owned.
typedef struct gen_operator {
    kw_schema *schema;
    const char *name;            // "ns::base.overload"
    const char *text;            // the schema, canonical
    const char *id;              // what its C names begin with: ns_base_overload
    const char *macro;           // the same in capitals
    const char *signature;       // its code; NULL: it has no C form
    const char *plain_signature; // the code of plain kernels; NULL: it has no symbolic arguments
    const char *mangled;         // the codes as parts of identifiers
    const char *plain_mangled;
    const char *comment; // lines above it in the file, each ended; "" if there is none
    uint32_t line;       // of the file
    uint32_t column;
    uint32_t arg_count;
    uint32_t return_count;
    gen_argument *args;
    gen_argument *returns;
} gen_operator;

// What the names of parameters must not be, beyond the generator's own words.
typedef struct gen_taken {
    const char *tensor_type;
    const char *tensor_keys; // NULL allowed
} gen_taken;

// Makes an operator of a schema with a namespace, which it takes over in any case.
void gen_operator_init(gen_operator *op, gen_arena *arena, kw_schema *take_schema,
                       const gen_taken *taken);
void gen_operator_fini(gen_operator *op);

// An identifier of a text: what no identifier may hold becomes "_", and in front of a digit comes
// one.
const char *gen_identifier(gen_arena *arena, const char *text);

// "type *name", the parameter of an argument, and of a return's out pointer.
const char *gen_parameter(gen_arena *arena, const gen_argument *arg, const char *tensor_type,
                          const char *name);
const char *gen_out_parameter(gen_arena *arena, const gen_argument *result, const char *tensor_type,
                              const char *name);

// The code with a letter for each of `y`, `Y` that plain kernels have; NULL if it has none.
const char *gen_plain_code(gen_arena *arena, const char *code);

// A code as part of an identifier: "tI>t" is "tli_t". Long ones are cut and numbered by content.
const char *gen_mangled(gen_arena *arena, const char *code);

#endif // KWI_GEN_OPERATOR_H
