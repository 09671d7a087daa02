// A typed call and a redispatch in smaller code: see Note [Small code].
//
// Layer:   bench
// Threads: any.
// SPDX-License-Identifier: MIT

#define KW_SMALL_CODE

#include "small.h"

#include "subject.h"

uint64_t bench_small_two(uint64_t iterations)
{
    int64_t out = 0;
    kw_status failures = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        failures |= bench_two_call_on(bench_op.two, &bench_left, &bench_right, out, &out);
    }
    return (uint64_t)out + (uint64_t)failures;
}

kw_status bench_small_autograd(const kw_kernel *self, kw_keyset keys, bench_tensor *a,
                               bench_tensor *b, int64_t c, int64_t *out_0)
{
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_full_after(KW_KEY_BackendSelect));
    kw_status failures = KW_OK;
    *out_0 = c;
    for (uint64_t i = bench_loop_count; i > 0; i--) {
        failures |= bench_looped_small_redispatch_on(self->op, below, a, b, *out_0, out_0);
    }
    return failures;
}
