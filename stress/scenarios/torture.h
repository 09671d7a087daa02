// Torture, from inside: the groups that are replaced, and what the readers' kernels are.
//
// Layer:   stress
// Threads: see the parts.
// SPDX-License-Identifier: MIT

#ifndef STRESS_SCENARIOS_TORTURE_H
#define STRESS_SCENARIOS_TORTURE_H

#include "concurrency/typed.h"
#include "driver/worker.h"
#include "shared/era.h"
#include "shared/group.h"

#define STRESS_TORTURE_GROUPS 2 // with a writer each, so that commits overlap
#define STRESS_TORTURE_OPS 5    // of each

typedef struct stress_torture {
    kw_dispatcher *dispatcher;
    stress_group groups[STRESS_TORTURE_GROUPS];
    stress_era eras[STRESS_TORTURE_GROUPS];
} stress_torture;

extern stress_torture stress_the_torture;

void stress_torture_read(stress_worker *worker);

// The kernels of the groups; each answers its generation.
kw_status stress_torture_cpu(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                             int64_t *out_0);
kw_status stress_torture_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                               kw_frame *frame);
kw_status stress_torture_autograd(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                  int64_t *out_0);

#endif // STRESS_SCENARIOS_TORTURE_H
