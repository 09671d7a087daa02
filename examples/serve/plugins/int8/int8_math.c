// Int8 math: quantisation by the largest value of a row, and products of what comes of it.
//
// Layer:   example (C library, fashion/math_plain.h's shapes)
// Threads: any; pure functions without state
// SPDX-License-Identifier: MIT

#include "int8_math.h"

#include <math.h>
#include <string.h>

enum {
    LEVELS = 127,
    // Products that fit an int32_t when added up: 2^31 / 127^2 is a little more.
    RUN_MAX = 1 << 17
};

bool serve_int8_quantize(size_t rows, size_t columns, const float *restrict x, int8_t *restrict q,
                         float *restrict scales)
{
    for (size_t i = 0; i < rows; i++) {
        const float *restrict from = x + i * columns;
        float largest = 0;
        bool is_finite = true;
        for (size_t j = 0; j < columns; j++) {
            const float size = fabsf(from[j]);
            largest = size > largest ? size : largest;
            is_finite = is_finite && isfinite(from[j]);
        }
        if (!is_finite) {
            return false;
        }
        scales[i] = largest / LEVELS;
        // In double, since the inverse of a subnormal number is no float.
        const double inverse = largest > 0 ? LEVELS / (double)largest : 0;
        for (size_t j = 0; j < columns; j++) {
            const double exact = from[j] * inverse;
            q[i * columns + j] = (int8_t)(exact + (exact < 0 ? -0.5 : 0.5));
        }
    }
    return true;
}

static int32_t dot_run(size_t count, const int8_t *a, const int8_t *b)
{
    int32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (int32_t)a[i] * b[i];
    }
    return sum;
}

static float dot(size_t count, const int8_t *a, const int8_t *b)
{
    if (count <= RUN_MAX) {
        return (float)dot_run(count, a, b);
    }
    int64_t sum = 0;
    for (size_t i = 0; i < count; i += RUN_MAX) {
        sum += dot_run(count - i < RUN_MAX ? count - i : RUN_MAX, a + i, b + i);
    }
    return (float)sum;
}

static float bias_of(const serve_int8_weight *weight, size_t index)
{
    return weight->bias != NULL ? weight->bias[index] : 0;
}

void serve_int8_linear_row(size_t columns, size_t out_columns, const int8_t *x, float x_scale,
                           const serve_int8_weight *weight, float *restrict y)
{
    for (size_t i = 0; i < out_columns; i++) {
        y[i] = dot(columns, x, weight->values + i * columns) * (x_scale * weight->scales[i]) +
               bias_of(weight, i);
    }
}

static size_t patch_count(const fashion_conv2d_shape *shape)
{
    return shape->in_channels * shape->kernel_height * shape->kernel_width;
}

size_t serve_int8_conv2d_scratch_bytes(const fashion_conv2d_shape *shape)
{
    return fashion_conv2d_out_height(shape) * fashion_conv2d_out_width(shape) * patch_count(shape);
}

// The columns of a row of a patch that lie inside the image; the rest is padding, zero.
static void copy_row(const fashion_conv2d_shape *shape, const int8_t *row, size_t left, int8_t *to)
{
    const size_t padding = shape->padding;
    const size_t first = left < padding ? padding - left : 0;
    size_t end = shape->width + padding > left ? shape->width + padding - left : 0;
    end = end < shape->kernel_width ? end : shape->kernel_width;
    memset(to, 0, shape->kernel_width);
    if (first < end) {
        memcpy(to + first, row + left + first - padding, end - first);
    }
}

// What the kernel lies over when its corner is at row `top` and column `left` of the padded image.
static void copy_patch(const fashion_conv2d_shape *shape, const int8_t *x, size_t top, size_t left,
                       int8_t *to)
{
    for (size_t c = 0; c < shape->in_channels; c++) {
        for (size_t p = 0; p < shape->kernel_height; p++) {
            const size_t row = top + p; // of the padded image
            if (row >= shape->padding && row < shape->height + shape->padding) {
                const size_t inside = c * shape->height + row - shape->padding;
                copy_row(shape, x + inside * shape->width, left, to);
            } else {
                memset(to, 0, shape->kernel_width);
            }
            to += shape->kernel_width;
        }
    }
}

void serve_int8_conv2d_image(const fashion_conv2d_shape *shape, const int8_t *x, float x_scale,
                             const serve_int8_weight *weight, int8_t *scratch, float *restrict y)
{
    const size_t out_width = fashion_conv2d_out_width(shape);
    const size_t places = fashion_conv2d_out_height(shape) * out_width;
    const size_t count = patch_count(shape);
    for (size_t i = 0; i < places; i++) {
        copy_patch(shape, x, i / out_width, i % out_width, scratch + i * count);
    }
    for (size_t o = 0; o < shape->out_channels; o++) {
        const int8_t *values = weight->values + o * count;
        const float scale = x_scale * weight->scales[o];
        const float bias = bias_of(weight, o);
        for (size_t i = 0; i < places; i++) {
            y[o * places + i] = dot(count, scratch + i * count, values) * scale + bias;
        }
    }
}
