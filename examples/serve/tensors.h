// Tensors: float32 tensors in the memory of the CPU, as the server and its built-in kernels use.
//
// Layer:   example (uses keyway/tensor.h)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SERVE_TENSORS_H
#define SERVE_TENSORS_H

#include <stdint.h>

#include <keyway/tensor.h>

/// Makes a contiguous tensor without autograd keys, whose values are still to be written.
///
/// On success the caller owns the reference, and `*out_values` are its elements.
kw_status serve_tensor_create(uint32_t dim, const int64_t *sizes, kw_tensor **out_tensor,
                              float **out_values, kw_error *err);

/// Returns the elements; NULL for NULL, the absent tensor.
const float *serve_tensor_values(const kw_tensor *tensor);

#endif // SERVE_TENSORS_H
