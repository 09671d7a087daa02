// The slab: where the bodies of tensors come from.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#include "tensor/slab.h"

#include "tensor/aligned.h"

#define SLOT_ALIGNMENT 64

// guard: cell. Relaxed: statistics.
static kwi_u64_cell count;

kw_tensor *kwi_slab_take(void)
{
    kw_tensor *tensor = kwi_aligned_allocate(sizeof *tensor, SLOT_ALIGNMENT);
    if (tensor != NULL) {
        (void)kwi_u64_add_relaxed(&count, 1); // relaxed: statistics
    }
    return tensor;
}

void kwi_slab_give_back(kw_tensor *tensor)
{
    (void)kwi_u64_add_relaxed(&count, UINT64_MAX); // relaxed: statistics; one fewer
    kwi_aligned_free(tensor, sizeof *tensor, SLOT_ALIGNMENT);
}

uint64_t kwi_slab_count(void)
{
    return kwi_u64_load_relaxed(&count); // relaxed: statistics
}

uint64_t kwi_slab_bytes(void)
{
    return kwi_slab_count() * (sizeof(kw_tensor) + SLOT_ALIGNMENT);
}
