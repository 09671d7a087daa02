// What bench-call and bench-around call: tensors, and the operators of call.ops with their kernels.
//
// Layer:   bench
// Threads: set up by one; calls from any.
// SPDX-License-Identifier: MIT

#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

#include <call.h>
#include <stdbool.h>

#include <keyway/call.h>
#include <keyway/library.h>

#include "common.h"

// Both with the keys of a dense CPU tensor that autograd and autocast know.
extern bench_tensor bench_left;
extern bench_tensor bench_right;

// The operators of the default dispatcher.
typedef struct bench_subject {
    const kw_operator *none; // by their number of tensors
    const kw_operator *one;
    const kw_operator *two;
    const kw_operator *three;
    const kw_operator *fallen;       // a fallthrough of its own before the kernel
    const kw_operator *levels_2;     // autograd, CPU
    const kw_operator *levels_4;     // autograd, views, backend selection, CPU
    const kw_operator *looped;       // its autograd kernel redispatches bench_loop_count times
    const kw_operator *looped_small; // the same in smaller code
    const kw_operator *boxed;        // a boxed CPU kernel
} bench_subject;

extern bench_subject bench_op;
extern uint64_t bench_loop_count; // of `looped`

// The CPU kernel of `two`.
kw_status bench_add_two(const kw_kernel *self, kw_keyset keys, bench_tensor *a, bench_tensor *b,
                        int64_t c, int64_t *out_0);

// Defines all of it. False: a sentence has been printed.
bool bench_subject_set_up(void);

#endif // BENCH_SUBJECT_H
