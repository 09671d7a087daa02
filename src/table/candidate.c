// Candidates: grouping of fallbacks by kernel.
//
// Layer:   table
// Threads: any; plain data of the caller.
// SPDX-License-Identifier: MIT

#include "table/candidate.h"

static struct kwi_fallback_group *group_of(kwi_fallbacks *fallbacks, const kwi_candidate *candidate)
{
    for (size_t i = 0; i < fallbacks->count; i++) {
        if (fallbacks->groups[i].candidate.kernel == candidate->kernel) {
            return &fallbacks->groups[i];
        }
    }
    struct kwi_fallback_group *group = &fallbacks->groups[fallbacks->count++];
    group->candidate = *candidate;
    group->slots = kwi_slotset_empty();
    return group;
}

void kwi_fallbacks_prepare(kwi_fallbacks *fallbacks, const kwi_candidate *by_slot)
{
    fallbacks->count = 0;
    for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
        if (by_slot[slot].kernel != NULL) {
            kwi_slotset_add(&group_of(fallbacks, &by_slot[slot])->slots, slot);
        }
    }
}
