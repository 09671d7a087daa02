// Plain math: the network's five operators in portable C, over row-major f32 arrays.
//
// Layer:     example (C library only)
// Threads:   any; pure functions without state
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "math_plain.h"

#include <math.h>

static size_t conv_extent(size_t extent, size_t padding, size_t kernel)
{
    size_t padded = extent + 2 * padding;
    return padded >= kernel ? padded - kernel + 1 : 0;
}

static size_t pool_extent(size_t extent, size_t kernel, size_t stride)
{
    return extent >= kernel ? (extent - kernel) / stride + 1 : 0;
}

size_t fashion_conv2d_out_height(const fashion_conv2d_shape *shape)
{
    return conv_extent(shape->height, shape->padding, shape->kernel_height);
}

size_t fashion_conv2d_out_width(const fashion_conv2d_shape *shape)
{
    return conv_extent(shape->width, shape->padding, shape->kernel_width);
}

size_t fashion_pool2d_out_height(const fashion_pool2d_shape *shape)
{
    return pool_extent(shape->height, shape->kernel, shape->stride);
}

size_t fashion_pool2d_out_width(const fashion_pool2d_shape *shape)
{
    return pool_extent(shape->width, shape->kernel, shape->stride);
}

// The outputs that a kernel element reaches without touching the padding: first to end - 1.
typedef struct span {
    size_t first;
    size_t end;
} span;

// `offset` is the position of the element in the kernel: output i reads input i + offset - padding.
static span inner_span(size_t in_extent, size_t out_extent, size_t padding, size_t offset)
{
    span s;
    s.first = padding > offset ? padding - offset : 0;
    s.end = in_extent + padding > offset ? in_extent + padding - offset : 0;
    s.end = s.end < out_extent ? s.end : out_extent;
    s.first = s.first < s.end ? s.first : s.end;
    return s;
}

// Adds one input plane [H, W] times one kernel element w[p, q] to one output plane. The padding is
// never read: it would only add zeros.
static void add_element(const fashion_conv2d_shape *shape, size_t p, size_t q,
                        const float *restrict x, float factor, float *restrict y)
{
    const size_t out_width = fashion_conv2d_out_width(shape);
    const span rows =
        inner_span(shape->height, fashion_conv2d_out_height(shape), shape->padding, p);
    const span columns = inner_span(shape->width, out_width, shape->padding, q);
    const size_t run = columns.end - columns.first;
    for (size_t i = rows.first; run > 0 && i < rows.end; i++) {
        const float *restrict from =
            x + (i + p - shape->padding) * shape->width + (columns.first + q - shape->padding);
        float *restrict to = y + i * out_width + columns.first;
        for (size_t j = 0; j < run; j++) {
            to[j] += factor * from[j];
        }
    }
}

// Computes one output plane from one image x [C, H, W] and the kernels w [C, P, Q] of one output.
static void conv_plane(const fashion_conv2d_shape *shape, const float *restrict x,
                       const float *restrict w, float bias, float *restrict y)
{
    const size_t in_plane = shape->height * shape->width;
    const size_t out_plane = fashion_conv2d_out_height(shape) * fashion_conv2d_out_width(shape);
    const size_t kernel = shape->kernel_height * shape->kernel_width;
    for (size_t i = 0; i < out_plane; i++) {
        y[i] = bias;
    }
    for (size_t c = 0; c < shape->in_channels; c++) {
        for (size_t e = 0; e < kernel; e++) {
            add_element(shape, e / shape->kernel_width, e % shape->kernel_width, x + c * in_plane,
                        w[c * kernel + e], y);
        }
    }
}

void fashion_plain_conv2d(const fashion_conv2d_shape *shape, const float *restrict x,
                          const float *restrict w, const float *restrict b, float *restrict y)
{
    const size_t in_image = shape->in_channels * shape->height * shape->width;
    const size_t out_plane = fashion_conv2d_out_height(shape) * fashion_conv2d_out_width(shape);
    const size_t taps = shape->in_channels * shape->kernel_height * shape->kernel_width;
    for (size_t n = 0; n < shape->batch; n++) {
        for (size_t o = 0; o < shape->out_channels; o++) {
            conv_plane(shape, x + n * in_image, w + o * taps, b != NULL ? b[o] : 0.0F,
                       y + (n * shape->out_channels + o) * out_plane);
        }
    }
}

void fashion_plain_relu(size_t count, const float *restrict x, float *restrict y)
{
    for (size_t i = 0; i < count; i++) {
        y[i] = x[i] < 0.0F ? 0.0F : x[i];
    }
}

// The largest value of a square window whose first value is *x.
static float window_max(const float *x, size_t width, size_t kernel)
{
    float best = x[0];
    for (size_t i = 0; i < kernel; i++) {
        for (size_t j = 0; j < kernel; j++) {
            const float value = x[i * width + j];
            best = value > best || isnan(value) ? value : best;
        }
    }
    return best;
}

// Computes one output plane from one input plane.
static void pool_plane(const fashion_pool2d_shape *shape, const float *restrict x,
                       float *restrict y)
{
    const size_t out_height = fashion_pool2d_out_height(shape);
    const size_t out_width = fashion_pool2d_out_width(shape);
    for (size_t i = 0; i < out_height; i++) {
        for (size_t j = 0; j < out_width; j++) {
            const float *window = x + i * shape->stride * shape->width + j * shape->stride;
            y[i * out_width + j] = window_max(window, shape->width, shape->kernel);
        }
    }
}

void fashion_plain_max_pool2d(const fashion_pool2d_shape *shape, const float *restrict x,
                              float *restrict y)
{
    const size_t in_plane = shape->height * shape->width;
    const size_t out_plane = fashion_pool2d_out_height(shape) * fashion_pool2d_out_width(shape);
    for (size_t plane = 0; plane < shape->planes; plane++) {
        pool_plane(shape, x + plane * in_plane, y + plane * out_plane);
    }
}

// The scalar product in eight partial sums: a compiler may not reorder one float sum, but it can
// put eight independent ones into a vector register.
static float dot(size_t count, const float *restrict x, const float *restrict w)
{
    enum {
        lanes = 8
    };
    float sums[lanes] = {0};
    size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        for (size_t lane = 0; lane < lanes; lane++) {
            sums[lane] += x[i + lane] * w[i + lane];
        }
    }
    float sum = 0.0F;
    for (; i < count; i++) {
        sum += x[i] * w[i];
    }
    for (size_t lane = 0; lane < lanes; lane++) {
        sum += sums[lane];
    }
    return sum;
}

// NOLINTNEXTLINE(readability-function-size): three extents and four operands
void fashion_plain_linear(size_t n, size_t k, size_t m, const float *restrict x,
                          const float *restrict w, const float *restrict b, float *restrict y)
{
    for (size_t row = 0; row < n; row++) {
        for (size_t column = 0; column < m; column++) {
            const float bias = b != NULL ? b[column] : 0.0F;
            y[row * m + column] = bias + dot(k, x + row * k, w + column * k);
        }
    }
}

static void softmax_row(size_t m, const float *restrict x, float *restrict y)
{
    float largest = x[0];
    for (size_t i = 1; i < m; i++) {
        largest = x[i] > largest ? x[i] : largest;
    }
    float sum = 0.0F;
    for (size_t i = 0; i < m; i++) {
        y[i] = expf(x[i] - largest);
        sum += y[i];
    }
    for (size_t i = 0; i < m; i++) {
        y[i] /= sum;
    }
}

void fashion_plain_softmax(size_t n, size_t m, const float *restrict x, float *restrict y)
{
    if (m == 0) {
        return;
    }
    for (size_t row = 0; row < n; row++) {
        softmax_row(m, x + row * m, y + row * m);
    }
}
