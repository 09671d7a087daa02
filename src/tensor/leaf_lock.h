// The leaf lock: the one mutex of the tensor library, held for a few steps.
//
// Layer:   tensor
// Threads: any. Nothing is called, allocated or waited for under it.
// SPDX-License-Identifier: MIT

#ifndef KWI_TENSOR_LEAF_LOCK_H
#define KWI_TENSOR_LEAF_LOCK_H

// A fork by another thread waits for it; the child finds it free.
void kwi_leaf_lock(void);
void kwi_leaf_unlock(void);

#endif // KWI_TENSOR_LEAF_LOCK_H
