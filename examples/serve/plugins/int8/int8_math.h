// Int8 math: quantisation by the largest value of a row, and products of what comes of it.
//
// Layer:   example (C library, fashion/math_plain.h's shapes)
// Threads: any; pure functions without state
// SPDX-License-Identifier: MIT
//
// A row of numbers is scale * q, with whole q from -127 to 127. So zero is zero, and padding stays
// what it is. Products are added up as integers; only their sum becomes a float again.

#ifndef SERVE_INT8_MATH_H
#define SERVE_INT8_MATH_H

#include <fashion/math_plain.h>
#include <stdbool.h>
#include <stdint.h>

/// A weight and what goes with each index of its first dimension. All borrowed.
typedef struct serve_int8_weight {
    const int8_t *values;
    const float *scales;
    const float *bias; // NULL: none
} serve_int8_weight;

/// Quantises rows, each with a scale of its own: x [rows, columns], q [rows, columns],
/// scales [rows]. False: a number is not finite, and the outputs do not matter.
bool serve_int8_quantize(size_t rows, size_t columns, const float *restrict x, int8_t *restrict q,
                         float *restrict scales);

/// y = x * transposed weight + bias, for one row x [columns] of this scale: weight
/// [out_columns, columns], y [out_columns].
void serve_int8_linear_row(size_t columns, size_t out_columns, const int8_t *x, float x_scale,
                           const serve_int8_weight *weight, float *restrict y);

/// Returns the bytes of scratch that one image of a convolution needs: its patches.
size_t serve_int8_conv2d_scratch_bytes(const fashion_conv2d_shape *shape);

/// Convolves one image x [C, H, W] of this scale: weight [O, C, P, Q],
/// y [O, out height, out width].
void serve_int8_conv2d_image(const fashion_conv2d_shape *shape, const int8_t *x, float x_scale,
                             const serve_int8_weight *weight, int8_t *scratch, float *restrict y);

#endif // SERVE_INT8_MATH_H
