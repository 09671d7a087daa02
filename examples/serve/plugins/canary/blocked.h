// Blocked math: convolution and linear in tiles that stay in registers.
//
// Layer:   example (C library, and the shapes of fashion/math_plain.h and layers.h)
// Threads: any; scratch belongs to the caller
// SPDX-License-Identifier: MIT
//
// Arrays are row-major and do not overlap. Every function writes its whole output.

#ifndef SERVE_CANARY_BLOCKED_H
#define SERVE_CANARY_BLOCKED_H

#include <fashion/math_plain.h>
#include <stdbool.h>
#include <stddef.h>

#include "layers.h"

/// Sets how many floats of scratch a convolution needs; false: more than can be counted.
bool blocked_conv2d_scratch_count(const fashion_conv2d_shape *shape, size_t *out_count);

/// x [N, C, H, W], weight [O, C, P, Q], bias [O] or NULL, y [N, O, out height, out width].
void blocked_conv2d(const fashion_conv2d_shape *shape, const float *x, const float *weight,
                    const float *bias, float *scratch, float *y);

/// x [rows, columns], weight [out columns, columns], bias [out columns] or NULL,
/// y [rows, out columns].
void blocked_linear(const serve_linear_shape *shape, const float *x, const float *weight,
                    const float *bias, float *y);

#endif // SERVE_CANARY_BLOCKED_H
