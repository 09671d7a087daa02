// Layouts: everything of a table that does not depend on which kernels it leads to.
//
// Layer:   table
// Threads: any; plain data of the caller.
// SPDX-License-Identifier: MIT
//
// Note [Layouts]
//
// Which slots an entry serves, by which rule, and which functionalities fall through, follows from
// the keys that have kernels and from the fallbacks, not from whose kernels they are. Operators are
// many and their sets of keys are few, so a commit that resolves many operators works out a layout
// for each set of keys, and then only fills in entries.

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

// In the order that T5 demands.
typedef struct kwi_layout {
    uint16_t mask_at[KW_BACKEND_COUNT];
    uint8_t index[KW_SLOT_COUNT];
    uint8_t entry_count;
    uint8_t mask_count;
    uint16_t masks_offset; // of the masks in the table, in bytes
    kwi_source sources[KW_SLOT_COUNT];
    uint8_t rules[KW_SLOT_COUNT]; // as the table has them
    kw_keyset masks[KW_BACKEND_COUNT];
} kwi_layout;

// The rule byte of an entry: the rule, and whether the kernel is a fallthrough.
#define KWI_RULE_BYTE_RULE 0x7f
#define KWI_RULE_BYTE_FALLTHROUGH 0x80

// Applies the rules and the masks.
void kwi_layout_make(const kwi_resolve_input *input, kwi_layout *out_layout);

// Layouts that were made, for inputs with the same fallbacks. A zeroed one knows none.
//
// I1  A known layout is the one of its shape: the keys in the order of the input, and which of them
//     fall through. That is the whole of what a layout depends on while no two keys share a kernel.
#define KWI_LAYOUTS_MAX 128        // PyTorch's operators have fewer sets of keys
#define KWI_LAYOUTS_KERNELS_MAX 16 // nearly all operators have fewer
#define KWI_LAYOUTS_CHAINS 64

struct kwi_layouts {
    unsigned count;
    uint8_t chains[KWI_LAYOUTS_CHAINS]; // by hash: one more than the place of the first, or 0
    struct kwi_known_layout {
        uint8_t next; // in the chain, likewise
        uint8_t kernel_count;
        uint16_t shape[KWI_LAYOUTS_KERNELS_MAX];
        kwi_layout layout;
    } known[KWI_LAYOUTS_MAX];
};

// The layout of the input; borrowed. NULL: it is not known, and there is no room for it.
const kwi_layout *kwi_layouts_get(kwi_layouts *layouts, const kwi_resolve_input *input);

#endif // KWI_TABLE_LAYOUT_H
