// Loops over the elements of up to three tensors: strides and broadcasting, for all CPU kernels.
//
// Layer:     example (uses the library)
// Threads:   a loop is its kernel's own
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef GRAD_LOOP_H
#define GRAD_LOOP_H

#include <stdint.h>

#include <keyway/kernel.h>
#include <keyway/status.h>
#include <keyway/tensor.h>

#define GRAD_LOOP_OPERANDS 3 // the output, and one or two inputs

// Does `count` elements. Steps are in elements; that of an operand that is repeated is 0.
typedef void (*grad_row)(int64_t count, void *const *data, const int64_t *steps, double factor);

// The same for both types.
typedef struct grad_rows {
    grad_row float32;
    grad_row float64;
} grad_rows;

/// Finds the shape that two shapes are broadcast to; `b` NULL: that of `a`. `out_sizes` has room
/// for KW_TENSOR_DIM_MAX.
kw_status grad_loop_shape(const kw_kernel *self, const kw_tensor *a, const kw_tensor *b,
                          int64_t *out_sizes, uint32_t *out_dim);

/// Runs `rows` over every element of a shape to which all operands are broadcast. The first one is
/// written, and may be smaller than the shape: its elements are then visited several times. `b` may
/// be NULL.
kw_status grad_loop_run(const kw_kernel *self, const grad_rows *rows, double factor, kw_tensor *out,
                        const kw_tensor *a, const kw_tensor *b);

#endif // GRAD_LOOP_H
