// Reference math: the five operators as their definitions read, summed in double.
//
// Layer:   example (C library, and the shapes of fashion/math_plain.h and layers.h)
// Threads: any
// SPDX-License-Identifier: MIT
//
// A product of two floats is exact in double, so what is returned is the true sum, rounded once.

#include "reference_math.h"

#include <math.h>

// One channel of one element: the window of `plane` whose corner is at (i, j).
static double window_sum(const fashion_conv2d_shape *s, const float *plane, const float *kernel,
                         size_t i, size_t j)
{
    double sum = 0;
    for (size_t p = 0; p < s->kernel_height; p++) {
        for (size_t q = 0; q < s->kernel_width; q++) {
            // Above or left of the image the difference wraps to beyond every extent.
            const size_t row = i + p - s->padding;
            const size_t column = j + q - s->padding;
            if (row < s->height && column < s->width) {
                sum += (double)plane[row * s->width + column] *
                       (double)kernel[p * s->kernel_width + q];
            }
        }
    }
    return sum;
}

// One output plane: `image` has all channels, `kernel` what they are multiplied by for this one.
static void convolve_plane(const fashion_conv2d_shape *s, const float *image, const float *kernel,
                           double bias, float *y)
{
    const size_t plane_size = s->height * s->width;
    const size_t kernel_size = s->kernel_height * s->kernel_width;
    for (size_t i = 0; i < fashion_conv2d_out_height(s); i++) {
        for (size_t j = 0; j < fashion_conv2d_out_width(s); j++) {
            double sum = bias;
            for (size_t c = 0; c < s->in_channels; c++) {
                sum += window_sum(s, image + c * plane_size, kernel + c * kernel_size, i, j);
            }
            *y++ = (float)sum;
        }
    }
}

void reference_conv2d(const fashion_conv2d_shape *s, const float *x, const float *weight,
                      const float *bias, float *y)
{
    const size_t image_size = s->in_channels * s->height * s->width;
    const size_t kernel_size = s->in_channels * s->kernel_height * s->kernel_width;
    const size_t out_plane = fashion_conv2d_out_height(s) * fashion_conv2d_out_width(s);
    for (size_t n = 0; n < s->batch; n++) {
        for (size_t o = 0; o < s->out_channels; o++) {
            convolve_plane(s, x + n * image_size, weight + o * kernel_size,
                           bias != NULL ? (double)bias[o] : 0,
                           y + (n * s->out_channels + o) * out_plane);
        }
    }
}

void reference_relu(size_t count, const float *x, float *y)
{
    for (size_t i = 0; i < count; i++) {
        y[i] = x[i] < 0 ? 0 : x[i];
    }
}

static float window_max(const float *plane, size_t width, size_t size)
{
    float max = plane[0];
    for (size_t p = 0; p < size; p++) {
        for (size_t q = 0; q < size; q++) {
            const float value = plane[p * width + q];
            if (value > max || isnan(value)) {
                max = value; // a NaN is never smaller, so it stays
            }
        }
    }
    return max;
}

void reference_max_pool2d(const fashion_pool2d_shape *s, const float *x, float *y)
{
    const size_t out_height = fashion_pool2d_out_height(s);
    const size_t out_width = fashion_pool2d_out_width(s);
    for (size_t plane = 0; plane < s->planes; plane++) {
        for (size_t i = 0; i < out_height; i++) {
            for (size_t j = 0; j < out_width; j++) {
                const size_t row = plane * s->height + i * s->stride;
                *y++ = window_max(x + row * s->width + j * s->stride, s->width, s->kernel);
            }
        }
    }
}

void reference_linear(const serve_linear_shape *s, const float *x, const float *weight,
                      const float *bias, float *y)
{
    for (size_t i = 0; i < s->rows; i++) {
        for (size_t j = 0; j < s->out_columns; j++) {
            double sum = bias != NULL ? (double)bias[j] : 0;
            for (size_t k = 0; k < s->columns; k++) {
                sum += (double)x[i * s->columns + k] * (double)weight[j * s->columns + k];
            }
            *y++ = (float)sum;
        }
    }
}

// Without the row's largest value in the exponents, large logits would overflow.
static void softmax_row(size_t columns, const float *x, float *y)
{
    double max = -INFINITY;
    for (size_t j = 0; j < columns; j++) {
        max = fmax(max, (double)x[j]);
    }
    double sum = 0;
    for (size_t j = 0; j < columns; j++) {
        sum += exp((double)x[j] - max);
    }
    for (size_t j = 0; j < columns; j++) {
        y[j] = (float)(exp((double)x[j] - max) / sum);
    }
}

void reference_softmax(size_t rows, size_t columns, const float *x, float *y)
{
    for (size_t i = 0; i < rows; i++) {
        softmax_row(columns, x + i * columns, y + i * columns);
    }
}
