// Version counters: counted numbers that a storage, or a tensor of its own, points to.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#include "tensor/counter.h"

#include <stddef.h>

#include <keyway/allocator.h>

kwi_counter *kwi_counter_create(void)
{
    kwi_counter *counter = kw_memory_allocate(sizeof *counter);
    if (counter != NULL) {
        kwi_u32_store_relaxed(&counter->references, 1); // relaxed: nobody else knows it
    }
    return counter;
}

void kwi_counter_retain(kwi_counter *counter)
{
    if (counter != NULL) {
        (void)kwi_u32_add_relaxed(&counter->references, 1); // relaxed: the caller has a reference
    }
}

void kwi_counter_release(kwi_counter *counter)
{
    // [pair: counter-count]
    if (counter != NULL && kwi_u32_sub_release(&counter->references, 1) == 1) {
        (void)kwi_u32_load_acquire(&counter->references); // [pair: counter-count]
        kw_memory_free(counter, sizeof *counter);
    }
}
