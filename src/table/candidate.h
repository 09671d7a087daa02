// Candidates: what a resolution has to know of a kernel, and fallbacks prepared for many operators.
//
// Layer:   table
// Threads: any; plain data of the caller.
// SPDX-License-Identifier: MIT

#ifndef KWI_TABLE_CANDIDATE_H
#define KWI_TABLE_CANDIDATE_H

#include <stdbool.h>
#include <stddef.h>

#include <keyway/kernel.h>
#include <keyway/key.h>

#include "table/slotset.h"

// The active kernel of one key. Candidates with the same kernel are equal but for the key.
typedef struct kwi_candidate {
    const kw_kernel *kernel; // NULL in an empty fallback slot
    kw_function unboxed;     // NULL: reached through the boxing entry, as all fallthroughs are
    kw_key key;              // as registered: runtime key, building block or alias
    bool fallthrough;
} kwi_candidate;

// Fallbacks are the same for every operator of a dispatcher. Grouped by kernel once, they cost a
// resolution one step for each kernel instead of one for each slot.
//
// B1  The groups are disjoint, not empty, and have different kernels.
typedef struct kwi_fallbacks {
    size_t count;
    struct kwi_fallback_group {
        kwi_candidate candidate;
        kwi_slotset slots;
    } groups[KW_SLOT_COUNT];
} kwi_fallbacks;

// Groups the fallbacks of KW_SLOT_COUNT slots.
void kwi_fallbacks_prepare(kwi_fallbacks *fallbacks, const kwi_candidate *by_slot);

#endif // KWI_TABLE_CANDIDATE_H
