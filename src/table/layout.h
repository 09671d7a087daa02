// Layouts: everything of a table that does not depend on which kernels it leads to.
//
// Layer:   table
// Threads: a set, and what is known of one, belong to whoever holds them; a record is immutable but
//          for its count and its links.
// SPDX-License-Identifier: MIT
//
// Note [Layouts]
//
// Which slots an entry serves, by which rule, and which functionalities fall through, follows from
// the keys that have kernels and from the fallbacks, not from whose kernels they are. Operators are
// many and their sets of keys are few. So tables do not hold this themselves: those with equal
// layouts share one record, which the last of them frees. A call reads it through one pointer more
// than if it were in the table, but of lines that other operators' calls have read before; the
// table itself is left with its block and its entries.
//
// A commit that resolves many operators works out a layout for each set of keys once.

#ifndef KWI_TABLE_LAYOUT_H
#define KWI_TABLE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/key.h>
#include <keyway/keyset.h>

#include "table/resolve.h"

// Where an entry's kernel comes from: one of the input's kernels, or of its groups of fallbacks,
// by number; or what reports.
typedef uint16_t kwi_source;

enum {
    KWI_SOURCE_KERNEL = 0,
    KWI_SOURCE_FALLBACK = KW_KEY_LIMIT,
    KWI_SOURCE_AMBIGUOUS = KWI_SOURCE_FALLBACK + KW_SLOT_COUNT,
    KWI_SOURCE_MISSING = KWI_SOURCE_AMBIGUOUS + 1
};

static inline kwi_candidate kwi_source_candidate(const kwi_resolve_input *input, kwi_source source)
{
    if (source < KWI_SOURCE_FALLBACK) {
        return input->kernels[source];
    }
    if (source < KWI_SOURCE_AMBIGUOUS) {
        return input->fallbacks->groups[source - KWI_SOURCE_FALLBACK].candidate;
    }
    bool is_ambiguous = source == KWI_SOURCE_AMBIGUOUS;
    return (kwi_candidate){.kernel = is_ambiguous ? input->ambiguous : input->missing};
}

// A layout while it is made, and where its entries' kernels come from. Entries are in the order
// that T5 demands.
typedef struct kwi_plan {
    kwi_layout layout;
    uint8_t entry_count;
    uint8_t rules[KW_SLOT_COUNT]; // rule bytes, as a record has them
    kwi_source sources[KW_SLOT_COUNT];
} kwi_plan;

// The rule byte of an entry: the rule, and whether the kernel is a fallthrough.
#define KWI_RULE_BYTE_RULE 0x7f
#define KWI_RULE_BYTE_FALLTHROUGH 0x80

// Applies the rules and the masks.
void kwi_plan_make(const kwi_resolve_input *input, kwi_plan *out_plan);

// A layout as tables have it.
//
// I1  It has one reference for each table, and for each `kwi_known_layout`, that has it.
// I2  No two records of a set are equal.
typedef struct kwi_layout_record {
    kwi_layout layout;              // first: a table's `layout` is a record
    kwi_layout_set *set;            // NULL: not in any
    struct kwi_layout_record *next; // in the set's chain
    uint32_t hash;
    uint32_t reference_count;
    uint8_t entry_count;
    uint8_t rules[]; // of each entry its rule byte
} kwi_layout_record;

static inline kwi_layout_record *kwi_layout_record_of(const kw_table *table)
{
    return (kwi_layout_record *)(uintptr_t)table->layout;
}

// A set's record that equals the plan, with one reference more for the caller; NULL: no memory.
// Without a set the record is the caller's own.
kwi_layout_record *kwi_layout_get(kwi_layout_set *set, const kwi_plan *plan);
void kwi_layout_release(kwi_layout_record *record);

bool kwi_layout_equal(const kwi_layout_record *a, const kwi_layout_record *b);

// The records that tables share. A zeroed one is empty and valid; so is one without records.
#define KWI_LAYOUT_SET_CHAINS 256

struct kwi_layout_set {
    kwi_layout_record *chains[KWI_LAYOUT_SET_CHAINS]; // by hash
};

// Layouts that a commit has worked out, for inputs with one set and with the same fallbacks, if
// they have any. A zeroed one knows none.
//
// I3  A known layout is the one of its shape: the keys in the order of the input, which of them
// fall
//     through, and whether there are fallbacks. That is the whole of what a layout depends on while
//     no two keys share a kernel.
#define KWI_LAYOUTS_MAX 128        // PyTorch's operators have fewer sets of keys
#define KWI_LAYOUTS_KERNELS_MAX 16 // nearly all operators have fewer
#define KWI_LAYOUTS_CHAINS 64

typedef struct kwi_known_layout {
    uint8_t next; // in the chain: one more than its place, or 0
    uint8_t kernel_count;
    bool has_fallbacks;
    uint16_t shape[KWI_LAYOUTS_KERNELS_MAX];
    kwi_layout_record *record;
    kwi_source sources[KW_SLOT_COUNT];
} kwi_known_layout;

struct kwi_layouts {
    unsigned count;
    uint8_t chains[KWI_LAYOUTS_CHAINS]; // by hash, likewise: the first
    kwi_known_layout known[KWI_LAYOUTS_MAX];
};

// The layout of the input; borrowed. NULL: it is not known, and there is no room or memory for it.
const kwi_known_layout *kwi_layouts_get(kwi_layouts *layouts, const kwi_resolve_input *input);

// Gives up its references.
void kwi_layouts_fini(kwi_layouts *layouts);

#endif // KWI_TABLE_LAYOUT_H
