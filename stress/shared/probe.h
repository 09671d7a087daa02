// Probes: calls of a group's operators that check what answers, and the kernels that help them.
//
// Layer:   stress
// Threads: a probe belongs to the thread that calls with it; signal handlers may call too.
// SPDX-License-Identifier: MIT

#ifndef STRESS_SHARED_PROBE_H
#define STRESS_SHARED_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "concurrency/typed.h"
#include "shared/era.h"
#include "shared/group.h"

typedef struct stress_probe stress_probe;

// What a call is made with, and what its kernels leave in it.
struct stress_probe {
    tensor x; // first: the kernels get a pointer to it

    // What the last kernel of the call does; NULL: it answers. It may end the thread.
    void (*inside)(stress_probe *probe, const kw_kernel *self, int64_t n);
    void *context; // the caller's

    const stress_group *group;
    stress_span span;
    uint64_t generation; // of the kernel that ran first; 0: none has
    bool is_pinned;      // the thread is under a snapshot
    bool has_layer;      // the autograd kernel ran
};

// A kernel for a CPU that answers its id, of an operator that is probed.
kw_status stress_probe_cpu(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                           int64_t *out_0);

// A group whose kernels are probes, in a new dispatcher; not opened yet.
stress_group stress_probe_group(const char *ns, unsigned op_count, stress_era *era);

// How an operator is called.
typedef enum stress_way {
    STRESS_WAY_TYPED = 0,
    STRESS_WAY_BOXED = 1 << 0,
    STRESS_WAY_LAYERED = 1 << 1, // through the autograd kernel, where there is one
    STRESS_WAY_LIMIT = 1 << 2
} stress_way;

// Calls and checks: the status is KW_OK; the kernels are alive, of one generation, and of one that
// is legal. Returns it. The caller has set `inside` and `context`.
uint64_t stress_probe_call(stress_probe *probe, const stress_group *group, unsigned which,
                           unsigned ways, int64_t n);

// The same with a kernel that only answers.
uint64_t stress_probe_once(const stress_group *group, unsigned which, unsigned ways);

#endif // STRESS_SHARED_PROBE_H
