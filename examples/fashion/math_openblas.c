// OpenBLAS math: convolution and linear through cblas_sgemm; the rest stays plain.
//
// Layer:     example (needs OpenBLAS; uses the shapes of math_plain)
// Threads:   any; no state here, the scratch belongs to the caller
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "math_openblas.h"

#include <assert.h>
#include <cblas.h>
#include <limits.h>
#include <string.h>

static blasint blas_extent(size_t extent)
{
    assert(extent <= INT_MAX);
    return (blasint)extent;
}

void fashion_openblas_one_thread(void)
{
    openblas_set_num_threads(1);
}

size_t fashion_openblas_conv2d_scratch_count(const fashion_conv2d_shape *shape)
{
    return shape->in_channels * shape->kernel_height * shape->kernel_width *
           fashion_conv2d_out_height(shape) * fashion_conv2d_out_width(shape);
}

// Copies one input row, moved by kernel column q, with zeros where it leaves the plane:
// to[j] = from[j + q - padding].
static void unfold_row(const fashion_conv2d_shape *shape, size_t q, const float *restrict from,
                       float *restrict to)
{
    const size_t out_width = fashion_conv2d_out_width(shape);
    for (size_t j = 0; j < out_width; j++) {
        // Wraps below zero to a number that is beyond every width.
        const size_t column = j + q - shape->padding;
        to[j] = column < shape->width ? from[column] : 0.0F;
    }
}

// Copies one input plane [H, W], moved by kernel element (p, q): for every output, the input under
// that element.
static void unfold_plane(const fashion_conv2d_shape *shape, size_t p, size_t q,
                         const float *restrict plane, float *restrict to)
{
    const size_t out_height = fashion_conv2d_out_height(shape);
    const size_t out_width = fashion_conv2d_out_width(shape);
    for (size_t i = 0; i < out_height; i++) {
        const size_t row = i + p - shape->padding; // wraps like the column above
        if (row < shape->height) {
            unfold_row(shape, q, plane + row * shape->width, to + i * out_width);
        } else {
            memset(to + i * out_width, 0, out_width * sizeof *to);
        }
    }
}

// Unfolds one image x [C, H, W] into windows [C * P * Q, out height * out width].
static void unfold(const fashion_conv2d_shape *shape, const float *restrict x,
                   float *restrict windows)
{
    const size_t out_plane = fashion_conv2d_out_height(shape) * fashion_conv2d_out_width(shape);
    const size_t kernel = shape->kernel_height * shape->kernel_width;
    for (size_t tap = 0; tap < shape->in_channels * kernel; tap++) {
        const float *plane = x + tap / kernel * shape->height * shape->width;
        const size_t element = tap % kernel;
        unfold_plane(shape, element / shape->kernel_width, element % shape->kernel_width, plane,
                     windows + tap * out_plane);
    }
}

void fashion_openblas_conv2d(const fashion_conv2d_shape *shape, const float *restrict x,
                             const float *restrict w, const float *restrict b,
                             float *restrict scratch, float *restrict y)
{
    const size_t in_image = shape->in_channels * shape->height * shape->width;
    const size_t out_plane = fashion_conv2d_out_height(shape) * fashion_conv2d_out_width(shape);
    const size_t taps = shape->in_channels * shape->kernel_height * shape->kernel_width;
    if (out_plane == 0 || taps == 0 || shape->out_channels == 0) {
        return;
    }
    for (size_t n = 0; n < shape->batch; n++) {
        float *to = y + n * shape->out_channels * out_plane;
        for (size_t i = 0; b != NULL && i < shape->out_channels * out_plane; i++) {
            to[i] = b[i / out_plane];
        }
        unfold(shape, x + n * in_image, scratch);
        // to [O, out plane] = w [O, taps] * scratch [taps, out plane], plus the bias already there.
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, blas_extent(shape->out_channels),
                    blas_extent(out_plane), blas_extent(taps), 1.0F, w, blas_extent(taps), scratch,
                    blas_extent(out_plane), b != NULL ? 1.0F : 0.0F, to, blas_extent(out_plane));
    }
}

// NOLINTNEXTLINE(readability-function-size): three extents and four operands
void fashion_openblas_linear(size_t n, size_t k, size_t m, const float *restrict x,
                             const float *restrict w, const float *restrict b, float *restrict y)
{
    if (n == 0 || m == 0) {
        return;
    }
    for (size_t i = 0; b != NULL && i < n * m; i++) {
        y[i] = b[i % m];
    }
    const blasint k_stride = blas_extent(k > 0 ? k : 1);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, blas_extent(n), blas_extent(m),
                blas_extent(k), 1.0F, x, k_stride, w, k_stride, b != NULL ? 1.0F : 0.0F, y,
                blas_extent(m));
}
