// Parts of the outputs, one function each; header.c and source.c put them together.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_GEN_PART_H
#define KWI_GEN_PART_H

#include <stdbool.h>

#include "gen/layout.h"
#include "gen/unit.h"

// What an operator's functions are: of its own signature, or of the plain one.
typedef enum gen_kind {
    GEN_OWN,
    GEN_PLAIN
} gen_kind;

// The parameters of an operator, arguments and out pointers, and their names.
void gen_add_parameters(gen_words *words, gen_unit *unit, const gen_operator *op, gen_kind kind);
void gen_add_names(gen_words *words, const gen_operator *op);

// The comment on an operator's main function: what it does, its schema, who owns what.
void gen_add_description(gen_text *out, gen_unit *unit, const gen_operator *op);

// Functions that call: inline ones for the header, and those that are too long for it.
void gen_add_calls(gen_text *out, gen_unit *unit, const gen_operator *op);
void gen_add_redispatch_outside(gen_text *out, gen_unit *unit, const gen_operator *op);
void gen_add_plain_calls(gen_text *out, gen_unit *unit, const gen_operator *op);

// Functions that read the keys of tensors, if the options name one for one tensor.
void gen_add_key_functions(gen_text *out, const gen_unit *unit);

// The statements that compute `argument_keys`.
void gen_add_argument_keys(gen_text *out, gen_unit *unit, const gen_operator *op);

// Declarations and macros that register, and their functions.
void gen_add_registering(gen_text *out, gen_unit *unit, const gen_operator *op);
void gen_add_registering_functions(gen_text *out, gen_unit *unit, const gen_operator *op);

// Boxing, unboxing and checking functions, each once for all operators of a signature.
void gen_add_thunks(gen_text *out, gen_unit *unit);

#endif // KWI_GEN_PART_H
