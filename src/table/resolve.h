// Resolution: from the kernels of an operator and the fallbacks to its table, and what tables say.
//
// Layer:   table
// Threads: any. A resolution depends on nothing but its input; a table is never written again.
// SPDX-License-Identifier: MIT

#ifndef KWI_TABLE_RESOLVE_H
#define KWI_TABLE_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include <keyway/inline/table.h>
#include <keyway/kernel.h>

#include "table/candidate.h"
#include "table/rule.h"

// Layouts that tables share, and those a commit has worked out: Note [Layouts].
typedef struct kwi_layout_set kwi_layout_set;
typedef struct kwi_layouts kwi_layouts;

// Everything a table depends on. Borrowed for the call, but for what the table names: kernels,
// functions, definition and owner.
typedef struct kwi_resolve_input {
    // One for each key that has a kernel, in any order. None for Undefined: whoever registers for
    // it means CompositeImplicitAutograd, and the caller says so.
    const kwi_candidate *kernels;
    size_t kernel_count;
    const kwi_fallbacks *fallbacks;          // NULL for none
    const kw_kernel *missing;                // boxed: reports that nothing serves the slot
    const kw_kernel *ambiguous;              // boxed: reports the ambiguity of AutogradOther
    kw_function box;                         // boxing entry of the operator's C signature
    const struct kwi_definition *definition; // NULL while the operator has none
    const void *owner;                       // of the table's block
    kwi_layout_set *layout_set; // whose layouts are shared; NULL: each table has its own

    // Who watches the calls, in the order they are told, at most UINT8_MAX; and what then runs in
    // place of every kernel.
    const void *const *observers;
    size_t observer_count;
    kw_boxed_function observed;
} kwi_resolve_input;

// Note [Observed tables]
//
// An operator that nobody watches has a table without a trace of observers, so they cost its calls
// nothing. In the table of one that is watched, every entry leads through the boxing entry to a
// stand-in: a kw_kernel in the table's own memory, whose boxed form is `observed` and whose user
// data is the kernel. It lives as long as the table, which the call has announced.

// Continues T1 to T4.
//
// T5  Entries are the distinct pairs of kernel and rule, numbered by the first slot that leads to
//     them.
// T6  Equal inputs give tables whose layouts and whose bytes after the layout are equal, whatever
//     the order of the kernels and of their registration (K4). Stand-ins differ in their address
//     alone.

// Returns a table with version 0, no end (hi) and no neighbours, to be freed with
// kwi_table_destroy(); NULL if there is no memory. `layouts` may be NULL, which takes longer and
// gives the same; else all inputs that it is used with have one set of layouts, and equal fallbacks
// or none, and no two keys of an input share a kernel.
kw_table *kwi_table_resolve(const kwi_resolve_input *input, kwi_layouts *layouts);

void kwi_table_destroy(kw_table *table);

// Whether two tables say the same: equal entries, rules, index, masks, visibility, definition and
// observers.
bool kwi_table_equal(const kw_table *a, const kw_table *b);

// As many as observer_count says.
static inline const void *const *kwi_table_observers(const kw_table *table)
{
    size_t after = table->observer_count * sizeof(void *) + table->entry_count * sizeof(kw_kernel);
    return (const void *const *)(const void *)((const char *)table + table->block.bytes - after);
}

// The number of a slot's entry.
unsigned kwi_table_entry_number(const kw_table *table, unsigned slot);

// The rule that filled a slot.
kwi_rule kwi_table_rule(const kw_table *table, unsigned slot);

// Whether one of the slots is left to the fallbacks: no kernel of the operator's own serves it.
bool kwi_table_needs_fallback(const kw_table *table, kwi_slotset slots);

// Whether a slot holds a fallthrough. Its entry is only reached by a redispatch, and reports that.
bool kwi_table_is_fallthrough(const kw_table *table, unsigned slot);

#endif // KWI_TABLE_RESOLVE_H
