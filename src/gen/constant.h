// Constants for the defaults of arguments.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_GEN_CONSTANT_H
#define KWI_GEN_CONSTANT_H

#include "gen/operator.h"
#include "gen/text.h"

// Writes ID_ARGUMENT_DEFAULT for each argument with a default, with the objects that it needs.
void gen_add_constants(gen_text *out, gen_arena *arena, const gen_operator *op);

// The name of an argument's constant; NULL if it has no default.
const char *gen_constant_name(gen_arena *arena, const gen_operator *op, uint32_t arg_index);

#endif // KWI_GEN_CONSTANT_H
