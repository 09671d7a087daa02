// States: what a thread is inside of, which nothing that it calls or that interrupts it may change.
//
// Layer:   stress
// Threads: the calling thread's own; also in signal handlers.
// SPDX-License-Identifier: MIT

#ifndef STRESS_SHARED_STATE_H
#define STRESS_SHARED_STATE_H

#include <stdint.h>

#include <keyway/inline/thread.h>
#include <keyway/local.h>

typedef struct stress_state_of_thread {
    kw_local_state local;
    uint64_t pinned;
    uint32_t depth;
    const void *inside[KWI_INSIDE_COUNT]; // addresses, compared and never followed
    const void *innermost;                // deeper than those
} stress_state_of_thread;

stress_state_of_thread stress_state_look(void);

// A violation if something differs after `what`.
void stress_state_check(const stress_state_of_thread *before, const char *what);

#endif // STRESS_SHARED_STATE_H
