// The kernels of the plugin: what they share, and what each counts.
//
// Layer:   example
// Threads: kernels run in any thread; counters are atomic.
// SPDX-License-Identifier: MIT

#ifndef TORCH_ROUTE_KERNELS_H
#define TORCH_ROUTE_KERNELS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <keyway/call.h>
#include <keyway/frame.h>
#include <keyway/kernel.h>
#include <keyway/status.h>
#include <keyway/tensor.h>

/// One kernel: under which operator it is registered, and how often it ran.
typedef struct route_entry {
    const char *op;
    kw_boxed_function function;
    _Atomic uint64_t served;   // computed here
    _Atomic uint64_t declined; // handed down to the kernel of the composite key
} route_entry;

/// Kernels for float32 on the CPU. What one cannot serve, it declines.
kw_status route_add(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame);
kw_status route_mul(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame);
kw_status route_add_in_place(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame);
kw_status route_mul_in_place(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame);
kw_status route_relu(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame);
kw_status route_mm(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame);

/// Counts a call that the kernel computes.
void route_served(const kw_kernel *self);

/// Hands the call to the kernel that the operator has for every backend without one of its own, and
/// counts it: PrivateUse3 is such a backend, and nobody's.
kw_status route_decline(const kw_kernel *self, const kw_operator *op, kw_frame *frame);

/// The tensor of an argument of type Tensor.
kw_tensor *route_tensor(const kw_frame *frame, uint32_t arg_index);

/// Whether a tensor is float32 in plain memory of the CPU.
bool route_takes(const kw_tensor *tensor);

/// Makes a contiguous float32 tensor of the given sizes, and says where its elements are.
kw_status route_result(const int64_t *sizes, uint32_t dim, kw_tensor **out_tensor,
                       float **out_data);

#endif // TORCH_ROUTE_KERNELS_H
