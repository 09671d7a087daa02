// Reference math: the five operators as their definitions read, summed in double.
//
// Layer:   example (C library, and the shapes of fashion/math_plain.h and layers.h)
// Threads: any; pure functions without state
// SPDX-License-Identifier: MIT
//
// Arrays are row-major and do not overlap. Every function writes its whole output.

#ifndef SERVE_REFERENCE_MATH_H
#define SERVE_REFERENCE_MATH_H

#include <fashion/math_plain.h>
#include <stddef.h>

#include "layers.h"

/// x [N, C, H, W], weight [O, C, P, Q], bias [O] or NULL, y [N, O, out height, out width].
void reference_conv2d(const fashion_conv2d_shape *shape, const float *x, const float *weight,
                      const float *bias, float *y);

/// y[i] = max(x[i], 0); a NaN stays one.
void reference_relu(size_t count, const float *x, float *y);

/// x [planes, H, W], y [planes, out height, out width]; a window with a NaN gives NaN.
void reference_max_pool2d(const fashion_pool2d_shape *shape, const float *x, float *y);

/// x [rows, columns], weight [out columns, columns], bias [out columns] or NULL,
/// y [rows, out columns].
void reference_linear(const serve_linear_shape *shape, const float *x, const float *weight,
                      const float *bias, float *y);

/// Each row of x [rows, columns] as exp(x) over its sum.
void reference_softmax(size_t rows, size_t columns, const float *x, float *y);

#endif // SERVE_REFERENCE_MATH_H
