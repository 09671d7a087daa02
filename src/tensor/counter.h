// Version counters: counted numbers that a storage, or a tensor of its own, points to.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT
//
// A storage without a counter stands at version 0: most are never written in place under autograd.
// Its counter is made by the first bump and stays until the storage ends.

#ifndef KWI_TENSOR_COUNTER_H
#define KWI_TENSOR_COUNTER_H

#include <keyway/inline/cell.h>

typedef struct kwi_counter {
    // guard: cell. Up: relaxed. Down: release, then acquire. [pair: counter-count]
    kwi_u32_cell references;

    // guard: cell. Relaxed: who compares versions has another order between the write and the look.
    kwi_u32_cell version;
} kwi_counter;

// One reference, version 0; NULL: no memory.
kwi_counter *kwi_counter_create(void);

// NULL is allowed.
void kwi_counter_retain(kwi_counter *counter);
void kwi_counter_release(kwi_counter *counter);

#endif // KWI_TENSOR_COUNTER_H
