// Printing: arguments, defaults and whole declarations in canonical form.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_PRINT_H
#define KWI_SCHEMA_PRINT_H

#include <keyway/schema.h>

#include "base/text.h"

// Adds an argument's default, if it has one.
void kwi_default_print(const kw_schema *schema, uint32_t arg_index, kwi_text *text);

#endif // KWI_SCHEMA_PRINT_H
