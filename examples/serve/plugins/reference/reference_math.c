// Reference math: the five operators as their definitions read, summed in double.
//
// Layer:   example (C library only)
// Threads: any
// SPDX-License-Identifier: MIT
//
// A product of two floats is exact in double, so what is returned is the true sum, rounded once.

#include "reference_math.h"

#include <math.h>

// One element of a convolution: the window of all channels of `image` whose corner is at (i, j).
static double window_sum(const fashion_conv2d_shape *s, const float *image, const float *kernel,
                         size_t i, size_t j)
{
    double sum = 0;
    for (size_t c = 0; c < s->in_channels; c++) {
        for (size_t p = 0; p < s->kernel_height; p++) {
            for (size_t q = 0; q < s->kernel_width; q++) {
                // Above or left of the image the difference wraps to beyond every extent.
                const size_t row = i + p - s->padding;
                const size_t column = j + q - s->padding;
                if (row < s->height && column < s->width) {
                    const float value = image[(c * s->height + row) * s->width + column];
                    const float factor = kernel[(c * s->kernel_height + p) * s->kernel_width + q];
                    sum += (double)value * (double)factor;
                }
            }
        }
    }
    return sum;
}

void reference_conv2d(const fashion_conv2d_shape *s, const float *x, const float *weight,
                      const float *bias, float *y)
{
    const size_t image_size = s->in_channels * s->height * s->width;
    const size_t kernel_size = s->in_channels * s->kernel_height * s->kernel_width;
    const size_t out_height = fashion_conv2d_out_height(s);
    const size_t out_width = fashion_conv2d_out_width(s);
    for (size_t n = 0; n < s->batch; n++) {
        for (size_t o = 0; o < s->out_channels; o++) {
            const double start = bias != NULL ? (double)bias[o] : 0;
            for (size_t i = 0; i < out_height; i++) {
                for (size_t j = 0; j < out_width; j++) {
                    const double sum =
                        window_sum(s, x + n * image_size, weight + o * kernel_size, i, j);
                    *y++ = (float)(start + sum);
                }
            }
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

void reference_linear(size_t rows, size_t columns, size_t out_columns, const float *x,
                      const float *weight, const float *bias, float *y)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < out_columns; j++) {
            double sum = bias != NULL ? (double)bias[j] : 0;
            for (size_t k = 0; k < columns; k++) {
                sum += (double)x[i * columns + k] * (double)weight[j * columns + k];
            }
            y[i * out_columns + j] = (float)sum;
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
