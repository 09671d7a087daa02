// Alias annotations: which sets of memory a value may be part of, before and after the call.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_ALIAS_H
#define KWI_SCHEMA_ALIAS_H

#include "base/text.h"
#include "schema/type.h"

// The most names in one set, which is searched name by name.
#define KWI_ALIAS_NAMES_MAX 64

// Orders the annotations of two types; 0: they are the same, or both absent. Sets have no order of
// their own; without "->" the set after the call is the one before; two anonymous ones, "!", are
// the same.
int kwi_alias_order(const kw_type *a, const kw_type *b);

// Adds a type's annotation, if it has one: each name once and in order.
void kwi_alias_print(const kw_type *type, kwi_text *text);

#endif // KWI_SCHEMA_ALIAS_H
