// What every benchmark of the library needs: a tensor type, keys, an end in case of failure.
//
// Layer:   bench
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <keyway/status.h>
#include <keyway/tensor_type.h>

#include "tensor.h"

// The tensor type of bench_tensor.
extern const kw_tensor_type bench_tensor_type;

// The keys of a dense CPU tensor that autograd and autocast know.
kw_keyset bench_dense_keys(void);

// Ends the program with the error's sentence if `status` is not KW_OK.
void bench_require(kw_status status, const kw_error *err);

#endif // BENCH_COMMON_H
