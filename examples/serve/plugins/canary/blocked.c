// Blocked math: convolution and linear in tiles that stay in registers.
//
// Layer:   example (C library, and the shapes of fashion/math_plain.h and layers.h)
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
} planes;

// Some output channels of one image.
typedef struct block {
    const fashion_conv2d_shape *s;
    planes from;
    size_t kernel_size; // elements of the weight for one output channel
    size_t out_plane;
    const float *weight;
    const float *bias; // or NULL
} block;

static planes describe(const fashion_conv2d_shape *s)
{
    return (planes){
        .height = s->height + 2 * s->padding,
        .width = s->width + 2 * s->padding + LANES - 1,
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

// The functions with a `count` of channels are inline, so that it is a constant in them.

// Adds LANES neighbours of the input times one element of the kernels.
static inline void add_element(const float *from, const float *weight, size_t stride, size_t count,
                               float sums[CHANNELS][LANES])
{
    for (size_t k = 0; k < count; k++) {
        const float factor = weight[k * stride];
        for (size_t lane = 0; lane < LANES; lane++) {
            sums[k][lane] += factor * from[lane];
        }
    }
}

// Computes one tile of the planes at `y`: the windows whose corners are at `corner` and to its
// right. `lanes` of it are inside the planes.
static inline void run_tile(const block *b, const float *corner, size_t count, size_t lanes,
                            float *y)
{
    const fashion_conv2d_shape *s = b->s;
    const float *weight = b->weight;
    float sums[CHANNELS][LANES];
    for (size_t k = 0; k < count; k++) {
        for (size_t lane = 0; lane < LANES; lane++) {
            sums[k][lane] = b->bias != NULL ? b->bias[k] : 0;
        }
    }
    for (size_t c = 0; c < s->in_channels; c++) {
        for (size_t p = 0; p < s->kernel_height; p++) {
            const float *row = corner + (c * b->from.height + p) * b->from.width;
            for (size_t q = 0; q < s->kernel_width; q++) {
                add_element(row + q, weight++, b->kernel_size, count, sums);
            }
        }
    }
    for (size_t k = 0; k < count; k++) {
        memcpy(y + k * b->out_plane, sums[k], lanes * sizeof *y);
    }
}

static inline void run_channels(const block *b, const float *image, size_t count, float *y)
{
    const size_t out_height = fashion_conv2d_out_height(b->s);
    const size_t out_width = fashion_conv2d_out_width(b->s);
    for (size_t i = 0; i < out_height; i++) {
        for (size_t j = 0; j < out_width; j += LANES) {
            const size_t left = out_width - j;
            run_tile(b, image + i * b->from.width + j, count, left < LANES ? left : LANES,
                     y + i * out_width + j);
        }
    }
}

// `image` is the copy.
static void run_image(const fashion_conv2d_shape *s, const float *image, const float *weight,
                      const float *bias, float *y)
{
    block b = {
        .s = s,
        .from = describe(s),
        .kernel_size = s->in_channels * s->kernel_height * s->kernel_width,
        .out_plane = fashion_conv2d_out_height(s) * fashion_conv2d_out_width(s),
    };
    for (size_t o = 0; o < s->out_channels;) {
        const bool is_whole = s->out_channels - o >= CHANNELS;
        b.weight = weight + o * b.kernel_size;
        b.bias = bias != NULL ? bias + o : NULL;
        if (is_whole) {
            run_channels(&b, image, CHANNELS, y + o * b.out_plane);
        } else {
            run_channels(&b, image, 1, y + o * b.out_plane);
        }
        o += is_whole ? CHANNELS : 1;
    }
}

void blocked_conv2d(const fashion_conv2d_shape *s, const float *x, const float *weight,
                    const float *bias, float *scratch, float *y)
{
    const planes to = describe(s);
    const size_t out_plane = fashion_conv2d_out_height(s) * fashion_conv2d_out_width(s);
    for (size_t n = 0; n < s->batch; n++) {
        copy_image(s, &to, x + n * s->in_channels * s->height * s->width, scratch);
        run_image(s, scratch, weight, bias, y + n * s->out_channels * out_plane);
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

void blocked_linear(const serve_linear_shape *s, const float *x, const float *weight,
                    const float *bias, float *y)
{
    for (size_t i = 0; i < s->rows; i++) {
        for (size_t j = 0; j < s->out_columns; j++) {
            const float sum = dot(s->columns, x + i * s->columns, weight + j * s->columns);
            *y++ = bias != NULL ? sum + bias[j] : sum;
        }
    }
}
