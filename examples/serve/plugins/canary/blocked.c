// Blocked math: convolution and linear in tiles that stay in registers.
//
// Layer:   example (C library only)
// Threads: any
// SPDX-License-Identifier: MIT
//
// Note [Tiles]
//
// A tile is CHANNELS output channels by LANES neighbouring outputs of a row. Its sums are a local
// array with constant extents, which the compiler keeps in vector registers, so an input that was
// loaded once serves CHANNELS products. Each image is first copied into planes with the padding
// around them and room for a whole tile at the end of each row: no tile asks where the image ends.

#include "blocked.h"

#include <string.h>

enum {
    CHANNELS = 4,
    LANES = 8
};

// The planes that an image is copied into.
typedef struct planes {
    size_t height;
    size_t width;
    size_t kernel; // elements of the weight for one output channel
} planes;

static planes describe(const fashion_conv2d_shape *s)
{
    return (planes){
        .height = s->height + 2 * s->padding,
        .width = s->width + 2 * s->padding + LANES - 1,
        .kernel = s->in_channels * s->kernel_height * s->kernel_width,
    };
}

bool blocked_conv2d_scratch_count(const fashion_conv2d_shape *shape, size_t *out_count)
{
    const planes to = describe(shape);
    size_t plane = 0;
    return !__builtin_mul_overflow(to.height, to.width, &plane) &&
           !__builtin_mul_overflow(plane, shape->in_channels, out_count);
}

static void copy_image(const fashion_conv2d_shape *s, const planes *to, const float *image,
                       float *scratch)
{
    memset(scratch, 0, s->in_channels * to->height * to->width * sizeof *scratch);
    for (size_t row = 0; row < s->in_channels * s->height; row++) {
        const size_t channel = row / s->height;
        const size_t place = channel * to->height + row % s->height + s->padding;
        memcpy(scratch + place * to->width + s->padding, image + row * s->width,
               s->width * sizeof *scratch);
    }
}

// Adds, for `count` output channels, the windows whose corners are at `corner` and to its right.
// Inline, so that `count` is a constant.
static inline void add_windows(const fashion_conv2d_shape *s, const planes *from,
                               const float *corner, const float *weight, size_t count,
                               float sums[CHANNELS][LANES])
{
    for (size_t c = 0; c < s->in_channels; c++) {
        for (size_t p = 0; p < s->kernel_height; p++) {
            const float *row = corner + (c * from->height + p) * from->width;
            for (size_t q = 0; q < s->kernel_width; q++, weight++) {
                for (size_t k = 0; k < count; k++) {
                    const float factor = weight[k * from->kernel];
                    for (size_t lane = 0; lane < LANES; lane++) {
                        sums[k][lane] += factor * row[q + lane];
                    }
                }
            }
        }
    }
}

// One tile: `count` output channels of the planes at `y`, from (i, j) on.
static inline void run_tile(const fashion_conv2d_shape *s, const planes *from, const float *corner,
                            const float *weight, const float *bias, size_t count, size_t lanes,
                            float *y)
{
    const size_t out_plane = fashion_conv2d_out_height(s) * fashion_conv2d_out_width(s);
    float sums[CHANNELS][LANES];
    for (size_t k = 0; k < count; k++) {
        for (size_t lane = 0; lane < LANES; lane++) {
            sums[k][lane] = bias != NULL ? bias[k] : 0;
        }
    }
    add_windows(s, from, corner, weight, count, sums);
    for (size_t k = 0; k < count; k++) {
        memcpy(y + k * out_plane, sums[k], lanes * sizeof *y);
    }
}

// `count` output channels of one image.
static inline void run_channels(const fashion_conv2d_shape *s, const planes *from,
                                const float *image, const float *weight, const float *bias,
                                size_t count, float *y)
{
    const size_t out_height = fashion_conv2d_out_height(s);
    const size_t out_width = fashion_conv2d_out_width(s);
    for (size_t i = 0; i < out_height; i++) {
        for (size_t j = 0; j < out_width; j += LANES) {
            const size_t left = out_width - j;
            run_tile(s, from, image + i * from->width + j, weight, bias, count,
                     left < LANES ? left : LANES, y + i * out_width + j);
        }
    }
}

void blocked_conv2d(const fashion_conv2d_shape *s, const float *x, const float *weight,
                    const float *bias, float *scratch, float *y)
{
    const planes to = describe(s);
    const size_t out_plane = fashion_conv2d_out_height(s) * fashion_conv2d_out_width(s);
    for (size_t n = 0; n < s->batch; n++) {
        copy_image(s, &to, x + n * s->in_channels * s->height * s->width, scratch);
        for (size_t o = 0; o < s->out_channels;) {
            const float *kernels = weight + o * to.kernel;
            const float *biases = bias != NULL ? bias + o : NULL;
            float *planes_out = y + (n * s->out_channels + o) * out_plane;
            if (s->out_channels - o >= CHANNELS) {
                run_channels(s, &to, scratch, kernels, biases, CHANNELS, planes_out);
                o += CHANNELS;
            } else {
                run_channels(s, &to, scratch, kernels, biases, 1, planes_out);
                o++;
            }
        }
    }
}

// A row times a row, in LANES sums that are added at the end.
static float dot(size_t count, const float *a, const float *b)
{
    float sums[LANES] = {0};
    const size_t whole = count - count % LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        for (size_t lane = 0; lane < LANES; lane++) {
            sums[lane] += a[i + lane] * b[i + lane];
        }
    }
    for (size_t i = whole; i < count; i++) {
        sums[i - whole] += a[i] * b[i];
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void blocked_linear(size_t rows, size_t columns, size_t out_columns, const float *x,
                    const float *weight, const float *bias, float *y)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < out_columns; j++) {
            const float sum = dot(columns, x + i * columns, weight + j * columns);
            y[i * out_columns + j] = bias != NULL ? sum + bias[j] : sum;
        }
    }
}
