// Swaps: commits that replace the CPU kernel of bench_op.two while others call it.
//
// Layer:   bench
// Threads: one at a time.
// SPDX-License-Identifier: MIT

#include "swap.h"

#include "subject.h"

static kw_status add_more(const kw_kernel *self, kw_keyset keys, bench_tensor *a, bench_tensor *b,
                          int64_t c, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)a;
    (void)b;
    *out_0 = c + 2;
    return KW_OK;
}

static kw_library *library(void)
{
    static kw_library *swaps;
    if (swaps == NULL) {
        const kw_library_options options = {
            .struct_size = sizeof options, .ns = "bench", .name = "swaps"};
        kw_error err = KW_ERROR_INIT;
        bench_require(kw_library_create(&options, &swaps, &err), &err);
    }
    return swaps;
}

int64_t bench_swap(bool defers)
{
    static bool is_more;
    const kw_commit_options options = {.struct_size = sizeof options, .defer_reclaim = defers};
    kw_kernel_descriptor kernel =
        is_more ? bench_two_unboxed(bench_add_two) : bench_two_unboxed(add_more);
    kernel.duplicates = KW_DUPLICATE_REPLACE;
    kw_error err = KW_ERROR_INIT;
    kw_transaction *tx = NULL;
    bench_require(kw_transaction_begin(kw_dispatcher_default(), &tx, &err), &err);
    bench_require(
        kw_transaction_impl(tx, library(), BENCH_TWO_NAME, KW_KEY_CPU, &kernel, NULL, &err), &err);
    bench_require(kw_transaction_commit(tx, &options, NULL, &err), &err);
    is_more = !is_more;
    return is_more ? 2 : 1;
}

void bench_swap_at_once(void)
{
    (void)bench_swap(false);
}

void bench_swap_deferring(void)
{
    (void)bench_swap(true);
}
