// libtorch's tensors, made and released in the same process.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef BENCH_ORIGINAL_TENSOR_H
#define BENCH_ORIGINAL_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// False: a sentence has been printed.
bool bench_original_tensor_set_up(void);

uint64_t bench_original_over_storage(uint64_t iterations); // 2 by 2, no dispatcher
uint64_t bench_original_empty(uint64_t iterations);        // at::empty({2, 2})
uint64_t bench_original_retain(uint64_t iterations);

#ifdef __cplusplus
}
#endif

#endif // BENCH_ORIGINAL_TENSOR_H
