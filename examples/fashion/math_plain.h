// Plain math: the network's five operators in portable C, over row-major f32 arrays.
//
// Layer:     example (C library only)
// Threads:   any; pure functions without state
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_MATH_PLAIN_H
#define FASHION_MATH_PLAIN_H

#include <stddef.h>

// Inputs and outputs of one call must not overlap. Every function writes its whole output.

typedef struct fashion_conv2d_shape {
    size_t batch;         // N
    size_t in_channels;   // C
    size_t height;        // H
    size_t width;         // W
    size_t out_channels;  // O
    size_t kernel_height; // P
    size_t kernel_width;  // Q
    size_t padding;       // zeros on each of the four sides; the stride is 1
} fashion_conv2d_shape;

typedef struct fashion_pool2d_shape {
    size_t planes; // N * C
    size_t height; // H
    size_t width;  // W
    size_t kernel; // extent of the square window, at least 1
    size_t stride; // at least 1
} fashion_pool2d_shape;

/// Returns H + 2 * padding - P + 1, or 0 if the kernel is larger than the padded input.
size_t fashion_conv2d_out_height(const fashion_conv2d_shape *shape);

/// Returns W + 2 * padding - Q + 1, or 0 if the kernel is larger than the padded input.
size_t fashion_conv2d_out_width(const fashion_conv2d_shape *shape);

/// Returns (H - kernel) / stride + 1, or 0 if the window is larger than the input.
size_t fashion_pool2d_out_height(const fashion_pool2d_shape *shape);

/// Returns (W - kernel) / stride + 1, or 0 if the window is larger than the input.
size_t fashion_pool2d_out_width(const fashion_pool2d_shape *shape);

/// Convolves, in the sense of neural networks (the kernel is not flipped).
///
/// x [N, C, H, W], w [O, C, P, Q], b [O] or NULL, y [N, O, out height, out width].
void fashion_plain_conv2d(const fashion_conv2d_shape *shape, const float *restrict x,
                          const float *restrict w, const float *restrict b, float *restrict y);

/// y[i] = max(x[i], 0); a NaN stays one. x [count], y [count].
void fashion_plain_relu(size_t count, const float *restrict x, float *restrict y);

/// Takes the largest value of each window; a window with a NaN gives NaN.
///
/// x [planes, H, W], y [planes, out height, out width]. Rows and columns at the end that do not
/// fill a window are left out.
void fashion_plain_max_pool2d(const fashion_pool2d_shape *shape, const float *restrict x,
                              float *restrict y);

/// y = x * transposed w + b. x [N, K], w [M, K], b [M] or NULL, y [N, M].
void fashion_plain_linear(size_t n, size_t k, size_t m, const float *restrict x,
                          const float *restrict w, const float *restrict b, float *restrict y);

/// Turns each row of logits into probabilities. x [N, M], y [N, M].
///
/// Large logits do not overflow: the row's largest value is subtracted first.
void fashion_plain_softmax(size_t n, size_t m, const float *restrict x, float *restrict y);

#endif // FASHION_MATH_PLAIN_H
