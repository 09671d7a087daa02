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

/// Quantises rows, each with a scale of its own: x [rows, columns], q [rows, columns],
/// scales [rows]. False: a number is not finite, and the outputs do not matter.
bool int8_quantize(size_t rows, size_t columns, const float *restrict x, int8_t *restrict q,
                   float *restrict scales);

/// y = x * transposed w + b, for one row x [columns] of this scale: w [out_columns, columns],
/// scales [out_columns], b [out_columns] or NULL, y [out_columns].
void int8_linear_row(size_t columns, size_t out_columns, const int8_t *x, float x_scale,
                     const int8_t *w, const float *scales, const float *b, float *restrict y);

/// Returns the bytes of scratch that one image of a convolution needs: its patches.
size_t int8_conv2d_scratch_bytes(const fashion_conv2d_shape *shape);

/// Convolves one image x [C, H, W] of this scale: w [O, C, P, Q], scales [O], b [O] or NULL,
/// y [O, out height, out width].
void int8_conv2d_image(const fashion_conv2d_shape *shape, const int8_t *x, float x_scale,
                       const int8_t *w, const float *scales, const float *b, int8_t *scratch,
                       float *restrict y);

#endif // SERVE_INT8_MATH_H
