// Resolution: from the kernels of an operator and the fallbacks to its table, and what tables say.
//
// Layer:   table
// Threads: any. A resolution depends on nothing but its input; a table is never written again.
// SPDX-License-Identifier: MIT

#ifndef KWI_TABLE_RESOLVE_H
#define KWI_TABLE_RESOLVE_H

#include <stdbool.h>

#include <keyway/inline/table.h>

#include "table/candidate.h"
#include "table/rule.h"

// Continues T1 to T4.
//
// T5  Entries are the distinct pairs of kernel and rule, numbered by the first slot that leads to
//     them. Masks are distinct and lie in the order of the first backend that leads to them.
// T6  Equal inputs give tables whose bytes after the block are equal, whatever the order of the
//     kernels and of their registration (K4).

// Returns a table with version 0, no end (hi) and no neighbours, to be freed with
// kwi_table_destroy(); NULL if there is no memory.
kw_table *kwi_table_resolve(const kwi_resolve_input *input);

void kwi_table_destroy(kw_table *table);

// Whether two tables have the same bytes after their blocks: the same entries, rules, index, masks,
// visibility and definition.
bool kwi_table_equal(const kw_table *a, const kw_table *b);

// The rule that filled a slot.
kwi_rule kwi_table_rule(const kw_table *table, unsigned slot);

// Whether a slot holds a fallthrough. Its entry is only reached by a redispatch, and reports that.
bool kwi_table_is_fallthrough(const kw_table *table, unsigned slot);

#endif // KWI_TABLE_RESOLVE_H
