// A typed call and a redispatch in smaller code: see Note [Small code].
//
// Layer:   bench
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef BENCH_SMALL_H
#define BENCH_SMALL_H

#include <stdint.h>

#include <keyway/kernel.h>

#include "tensor.h"

uint64_t bench_small_two(uint64_t iterations);

// The autograd kernel of `looped_small`: redispatches bench_loop_count times.
kw_status bench_small_autograd(const kw_kernel *self, kw_keyset keys, bench_tensor *a,
                               bench_tensor *b, int64_t c, int64_t *out_0);

#endif // BENCH_SMALL_H
