// Out of memory, from inside: the operators, and what writers and clients offer each other.
//
// Layer:   stress
// Threads: see the parts.
// SPDX-License-Identifier: MIT

#ifndef STRESS_SCENARIOS_OOM_H
#define STRESS_SCENARIOS_OOM_H

#include <stdbool.h>

#include <keyway/library.h>

#include "concurrency/typed.h"
#include "driver/worker.h"
#include "scenarios/storm_plan.h"

#define STRESS_OOM_WRITERS 2 // each with as many operators as a plan has
#define STRESS_OOM_OPS (STRESS_OOM_WRITERS * STRESS_OOM_OPS_EACH)
#define STRESS_OOM_OPS_EACH 4
#define STRESS_OOM_FAIL_ONE_IN 300

typedef struct stress_oom {
    kw_dispatcher *dispatcher;
    const kw_operator *ops[STRESS_OOM_OPS];
    char names[STRESS_OOM_OPS][32];
} stress_oom;

extern stress_oom stress_the_oom;

// Changes operators of its own, knows what they amount to, and looks after each failure.
void stress_oom_write(stress_worker *worker);

// Does everything else that allocates.
void stress_oom_serve(stress_worker *worker);

// Attaches and nests where nothing can be mapped.
void stress_oom_gather(stress_worker *worker);

// True if `status` is KW_OK. That, or a failure for want of memory, is all that is legal.
bool stress_oom_may_fail(kw_status status, const char *what, const kw_error *err);

// A call without a look at its answer but for the life of its kernel; no call needs memory.
typedef struct stress_oom_answer {
    kw_status status;
    uint64_t id;
    uint64_t autograd; // of the kernel that redispatched; 0: none
} stress_oom_answer;

stress_oom_answer stress_oom_call(unsigned which, kw_keyset keys, bool is_boxed);

// The kernels.
kw_status stress_oom_cpu(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0);
kw_status stress_oom_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame);
kw_status stress_oom_autograd(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                              int64_t *out_0);

#endif // STRESS_SCENARIOS_OOM_H
