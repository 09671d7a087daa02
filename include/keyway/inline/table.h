// The dispatch table as calls read it: block header, entries, and the masks and places of its
// layout.
//
// Layer:     table
// Threads:   immutable once published; read by any thread inside a call that announced it.
// Stability: inline tier: recompile for each layout number.
// SPDX-License-Identifier: MIT

#ifndef KW_INLINE_TABLE_H
#define KW_INLINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/inline/cell.h>
#include <keyway/kernel.h>
#include <keyway/key.h>
#include <keyway/keyset.h>

KW_BEGIN_DECLS

// What publication and reclamation know of a block: everything a table has in common with whatever
// else may be published one day. One cache line.
typedef struct kwi_block {
    // guard: immutable. The commit that published it; 0 in the permanent end of a chain.
    uint64_t version;

    // guard: immutable. The operator whose table this is; NULL in the permanent end of a chain.
    const void *owner;

    // guard: rcu. Store: release, under the writer lock. Load: acquire, inside enter/leave.
    // The table this one replaced. [pair: table-older]
    kwi_ptr_cell older;

    // guard: lock writer. First version that no longer sees this block; UINT64_MAX while newest.
    uint64_t hi;

    // guard: lock writer. The grace period it waits for; meaningful from its retirement on.
    uint64_t ticket;

    // guard: lock writer. Until it is unlinked: the nearest linked newer block, NULL while newest.
    // From then on: when a pass first kept it for an announcement; 0 before.
    union {
        struct kwi_block *newer;
        uint64_t held_since_ns;
    };

    // guard: lock writer. Link in a list of retired blocks.
    struct kwi_block *next;

    // guard: immutable. Size of the allocation.
    uint32_t bytes;

    // guard: lock writer. One of kwi_block_state.
    uint32_t state;
} kwi_block;

// Where a call lands: a function with the operator's own C signature, and its first argument.
typedef struct kw_entry {
    kw_function function;
    const kw_kernel *kernel;
} kw_entry;

struct kwi_definition;

// More than a frame holds.
#define KWI_NO_FRAME 255

// What tables whose operators have the same keys with kernels have in common, and share: Note
// [Layouts] in src/table/layout.h.
typedef struct kwi_layout {
    // For the number of the highest backend bit: the functionalities that do not fall through.
    kw_keyset masks[KW_BACKEND_COUNT];

    // For each slot the place of its entry: bytes from the start of the table.
    uint16_t entry_at[KW_SLOT_COUNT];
} kwi_layout;

// T1  `entry_at` is complete: every slot leads to an entry that can be called.
// T2  `masks` are complete: every backend has a mask that holds all backend bits.
// T3  A table is immutable from the moment it is published, and so is its layout, which lives as
//     long as a table that has it.
// T4  A table is one allocation: in a table with observers these lie after the entries, and then a
//     kw_kernel for each entry, which stands in for the entry's kernel.
typedef struct kw_table {
    kwi_block block;

    const kwi_layout *layout;

    // Schema and argument positions, kept alive by the table; NULL while the operator has none.
    const struct kwi_definition *definition;

    uint8_t entry_count;
    uint8_t visible;        // 1 while the operator has a definition or a kernel
    uint8_t observer_count; // of those that calls of this table run; 0: entries are kernels

    // The counts of a frame of which nothing but its tensors has keys; KWI_NO_FRAME where there is
    // no definition, a generator among its arguments, or "..." in it.
    uint8_t frame_args;
    uint8_t frame_returns;

    // As many as entry_count says; one, so that C++ has a word for it.
    kw_entry entries[1];
} kw_table;

/// Returns the mask of the functionalities that do not fall through, for the highest backend.
static inline kw_keyset kwi_table_mask(const kw_table *table, unsigned backend_number)
{
    return table->layout->masks[backend_number];
}

static inline const kw_entry *kwi_table_entry(const kw_table *table, unsigned slot)
{
    return (const kw_entry *)(const void *)((const char *)table + table->layout->entry_at[slot]);
}

KW_END_DECLS

#endif // KW_INLINE_TABLE_H
