// Fresh tensors of the type and device of another one.
//
// Layer:     example (uses ops)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef GRAD_FRESH_H
#define GRAD_FRESH_H

#include <stdint.h>

#include <keyway/status.h>
#include <keyway/tensor.h>

/// Creates a contiguous tensor whose contents do not matter.
kw_status grad_fresh(const int64_t *sizes, uint32_t dim, const kw_tensor *like,
                     kw_tensor **out_tensor);

/// The same, with one number everywhere.
kw_status grad_fresh_full(const int64_t *sizes, uint32_t dim, const kw_tensor *like, double value,
                          kw_tensor **out_tensor);

#endif // GRAD_FRESH_H
