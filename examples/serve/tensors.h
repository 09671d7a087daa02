// Tensors: float32 tensors of the CPU, as the server and its built-in kernels use, and their way
// from and to other devices.
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

/// Finds the elements of `tensor`, which may be on any device and lie in any order, on a device of
/// this type, contiguous.
///
/// On success the caller owns one reference: to the tensor itself, if it is like that, else to a
/// copy without autograd keys. A copy is made by the allocator of the device that is not the CPU.
kw_status serve_tensor_move(kw_tensor *tensor, int32_t device_type, kw_tensor **out_tensor,
                            kw_error *err);

/// Returns the elements of a tensor of the CPU; NULL for NULL, the absent tensor.
const float *serve_tensor_values(const kw_tensor *tensor);

#endif // SERVE_TENSORS_H
