// The tensor of the benchmarks: what the options of generated code name.
//
// Layer:   bench
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef BENCH_TENSOR_H
#define BENCH_TENSOR_H

#include <stdint.h>

#include <keyway/keyset.h>

typedef struct bench_tensor {
    kw_keyset keys;
    int64_t value;
} bench_tensor;

static inline kw_keyset bench_keys(const bench_tensor *tensor)
{
    return tensor->keys;
}

#endif // BENCH_TENSOR_H
