// The storm, from inside: its operators and their histories, and what its parts offer each other.
//
// Layer:   stress
// Threads: see the parts.
// SPDX-License-Identifier: MIT

#ifndef STRESS_SCENARIOS_STORM_H
#define STRESS_SCENARIOS_STORM_H

#include <keyway/dispatcher.h>
#include <keyway/kernel.h>

#include "concurrency/typed.h"
#include "driver/worker.h"
#include "shared/group.h"
#include "shared/history.h"

#define STRESS_STORM_GROUP_OPS 4
#define STRESS_STORM_WRITERS 2
#define STRESS_STORM_OPS_EACH 4 // of each writer
#define STRESS_STORM_OPS (STRESS_STORM_GROUP_OPS + STRESS_STORM_WRITERS * STRESS_STORM_OPS_EACH)

typedef struct stress_storm {
    kw_dispatcher *dispatcher;
    stress_group group; // the first operators
    const kw_operator *ops[STRESS_STORM_OPS];
    char names[STRESS_STORM_OPS][32];
    stress_history histories[STRESS_STORM_OPS];
} stress_storm;

extern stress_storm stress_the_storm;

// The backend whose fallback a writer owns.
kw_key stress_storm_fallback_key(unsigned writer);

// Threads that call, and threads that change what the others call.
void stress_storm_read(stress_worker *worker);
void stress_storm_write(stress_worker *worker);

// What their kernels are; each answers the id of its subject. The autograd kernel redispatches.
kw_status stress_storm_cpu(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                           int64_t *out_0);
kw_status stress_storm_cpu_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                 kw_frame *frame);
kw_status stress_storm_autograd(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                int64_t *out_0);

// Handles the signal that interrupts readers: calls, unless the thread is about to change its pin.
void stress_storm_handle(int number);

#endif // STRESS_SCENARIOS_STORM_H
