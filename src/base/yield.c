// Schedule points and seeded faults: how tests prove that they would find a defect.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT

#include "base/yield.h"

#ifdef KWI_TESTING

#include <sched.h>

#include <keyway/inline/cell.h>

// guard: cell. Relaxed: set before the threads that read them are started.
static kwi_u32_cell active_fault;
static kwi_u32_cell wait_one_in;

static _Thread_local uint32_t random_state;

void kwi_fault_set(kwi_fault fault)
{
    kwi_u32_store_relaxed(&active_fault, (uint32_t)fault);
}

bool kwi_fault_is(kwi_fault fault)
{
    return kwi_u32_load_relaxed(&active_fault) == (uint32_t)fault;
}

void kwi_yield_set(uint32_t one_in)
{
    kwi_u32_store_relaxed(&wait_one_in, one_in);
}

void kwi_yield(void)
{
    uint32_t one_in = kwi_u32_load_relaxed(&wait_one_in);
    if (one_in == 0) {
        return;
    }
    if (random_state == 0) {
        random_state = (uint32_t)(uintptr_t)&random_state | 1; // differs by thread
    }
    random_state = random_state * 1664525U + 1013904223U; // Numerical Recipes' generator
    if ((random_state >> 8) % one_in != 0) {
        return;
    }
    if ((random_state >> 30) == 0) {
        (void)sched_yield();
    } else {
        for (volatile int i = 0; i < 3000; i++) {
        }
    }
}

#else

typedef int kwi_yield_is_empty; // ISO C wants a declaration in every file

#endif
