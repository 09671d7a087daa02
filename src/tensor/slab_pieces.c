// The slab of builds with AddressSanitizer: each body is a piece of its own.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT
//
// So the sanitizer knows who made and who released a tensor, finds use after release for as long as
// its quarantine lasts, second releases, and tensors that nobody released. In a chunk it would know
// nothing of all that, and with poison no more than that a slot is free at this moment.

#include "tensor/aligned.h"
#include "tensor/slab.h"

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

void kwi_slab_after_fork_child(void)
{
}
