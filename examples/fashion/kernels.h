// Kernels: the kernel libraries of the demo, each as a function that stages its kernels.
//
// Layer:     example (uses change)
// Threads:   one change at a time; the kernels run in any thread
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_KERNELS_H
#define FASHION_KERNELS_H

#include <keyway/key.h>

#include "change.h"

/// Stages the kernel of one operator, under a key, in a library; see fashion_change_impl().
///
/// plain     typed kernels in portable C
/// openblas  typed kernels; convolution and linear layer through OpenBLAS
/// autograd  typed kernels that count the call and redispatch it to the keys below autograd
/// trace     one boxed kernel for every operator, which counts the call and redispatches it
/// broken    a linear layer whose first output is a little too large; the others are plain
void fashion_plain_stage(fashion_change *change, kw_library *library, fashion_op op, kw_key key,
                         fashion_slot *out_slot);
void fashion_openblas_stage(fashion_change *change, kw_library *library, fashion_op op, kw_key key,
                            fashion_slot *out_slot);
void fashion_autograd_stage(fashion_change *change, kw_library *library, fashion_op op, kw_key key,
                            fashion_slot *out_slot);
void fashion_trace_stage(fashion_change *change, kw_library *library, fashion_op op, kw_key key,
                         fashion_slot *out_slot);
void fashion_broken_stage(fashion_change *change, kw_library *library, fashion_op op, kw_key key,
                          fashion_slot *out_slot);

/// The plain kernels, for libraries that have nothing better for an operator.
kw_kernel_descriptor fashion_plain_kernel(fashion_op op);

#endif // FASHION_KERNELS_H
