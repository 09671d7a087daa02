// The slab: where the bodies of tensors come from.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_TENSOR_SLAB_H
#define KWI_TENSOR_SLAB_H

#include <stdint.h>

#include <keyway/inline/tensor.h>

// Memory of one tensor, on a cache line of its own and the next, with no defined contents; NULL:
// there is none.
kw_tensor *kwi_slab_take(void);
void kwi_slab_give_back(kw_tensor *tensor);

// In a child of fork(), which has the calling thread alone; the leaf lock is held.
void kwi_slab_after_fork_child(void);

// Figures for kw_tensor_statistics.
uint64_t kwi_slab_count(void);
uint64_t kwi_slab_bytes(void);

#endif // KWI_TENSOR_SLAB_H
