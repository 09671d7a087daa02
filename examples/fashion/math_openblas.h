// OpenBLAS math: convolution and linear through cblas_sgemm; the rest stays plain.
//
// Layer:     example (needs OpenBLAS; uses the shapes of math_plain)
// Threads:   any; no state here, the scratch belongs to the caller
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_MATH_OPENBLAS_H
#define FASHION_MATH_OPENBLAS_H

#include <stddef.h>

#include "math_plain.h"

// Shapes, layouts and results are those of the plain functions, up to rounding. Every extent and
// every product of extents that becomes a matrix side has to fit an int, which is BLAS's index.

/// Makes OpenBLAS compute in the calling thread, without its own pool.
///
/// Sets it for the whole process. Call it once before threads compute: with many calling threads
/// the pool only costs time.
void fashion_openblas_one_thread(void);

/// Returns how many floats of scratch a convolution needs: C * P * Q * out height * out width.
///
/// That is one image, whatever the batch. The scratch needs no initial value, keeps nothing
/// between calls, and must not be used by two calls at once.
size_t fashion_openblas_conv2d_scratch_count(const fashion_conv2d_shape *shape);

/// Convolves: unfolds each image into a matrix of windows and multiplies it by the kernels.
///
/// x [N, C, H, W], w [O, C, P, Q], b [O] or NULL, scratch [scratch count],
/// y [N, O, out height, out width].
void fashion_openblas_conv2d(const fashion_conv2d_shape *shape, const float *restrict x,
                             const float *restrict w, const float *restrict b,
                             float *restrict scratch, float *restrict y);

/// y = x * transposed w + b. x [N, K], w [M, K], b [M] or NULL, y [N, M].
void fashion_openblas_linear(size_t n, size_t k, size_t m, const float *restrict x,
                             const float *restrict w, const float *restrict b, float *restrict y);

#endif // FASHION_MATH_OPENBLAS_H
