// libtorch's own dispatcher, asked the same questions in the same process.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef BENCH_ORIGINAL_H
#define BENCH_ORIGINAL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Registers the operators that follow. False: a sentence has been printed.
bool bench_original_set_up(void);

// Calls of (Tensor a, Tensor b, int c) -> int as bench-call makes them.
uint64_t bench_original_two(uint64_t iterations);
uint64_t bench_original_redispatch(uint64_t iterations);
uint64_t bench_original_levels_2(uint64_t iterations);
uint64_t bench_original_levels_4(uint64_t iterations);
uint64_t bench_original_boxed(uint64_t iterations);
uint64_t bench_original_find(uint64_t iterations);

// Calls operators at random: for each number below 65,536 in `order` the operator at that share of
// `count`, which is at most 5,000. They have a CPU kernel.
uint64_t bench_original_random(const uint16_t *order, unsigned order_count, unsigned count);

// Nanoseconds of defining `count` operators and giving each five kernels, one by one, since there
// are no transactions; and of a fallback over everything that is defined.
double bench_original_start_up(unsigned count);
double bench_original_fallback(void);

#ifdef __cplusplus
}
#endif

#endif // BENCH_ORIGINAL_H
