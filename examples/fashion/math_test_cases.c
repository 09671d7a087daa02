// Self-check, cases: small inputs whose results are computed by hand.
//
// Layer:     example (test)
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <math.h>
#include <stddef.h>

#include "histogram.h"
#include "math_openblas.h"
#include "math_plain.h"
#include "math_test.h"

enum {
    scratch_count = 256
};

static bool is_near(size_t count, const float *got, const float *expected)
{
    for (size_t i = 0; i < count; i++) {
        if (!(fabsf(got[i] - expected[i]) <= 1e-6F)) {
            return false;
        }
    }
    return true;
}

// Runs a convolution with both math sets into memory full of NaN, so that an output that is not
// written shows.
static bool conv_gives(const fashion_conv2d_shape *shape, const float *x, const float *w,
                       const float *b, size_t count, const float *expected)
{
    float plain[64];
    float blas[64];
    float scratch[scratch_count];
    for (size_t i = 0; i < 64; i++) {
        plain[i] = NAN;
        blas[i] = NAN;
    }
    FASHION_CHECK(fashion_openblas_conv2d_scratch_count(shape) <= scratch_count);
    fashion_plain_conv2d(shape, x, w, b, plain);
    fashion_openblas_conv2d(shape, x, w, b, scratch, blas);
    return is_near(count, plain, expected) && is_near(count, blas, expected) &&
           isnan(plain[count]) && isnan(blas[count]);
}

static void check_conv(void)
{
    const float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const float ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const float ramp[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const float half[1] = {0.5F};

    const fashion_conv2d_shape padded = {1, 1, 3, 3, 1, 3, 3, 1};
    const float sums[9] = {12, 21, 16, 27, 45, 33, 24, 39, 28};
    FASHION_CHECK(conv_gives(&padded, x, ones, NULL, 9, sums));

    // Not flipped: the middle is 1*1 + 2*2 + ... + 9*9, the first corner 1*5 + 2*6 + 4*8 + 5*9.
    const float ramped[9] = {94, 154, 106, 186, 285, 186, 106, 154, 94};
    FASHION_CHECK(conv_gives(&padded, x, ramp, NULL, 9, ramped));

    const fashion_conv2d_shape valid = {1, 1, 3, 3, 1, 3, 3, 0};
    const float middle[1] = {285.5F};
    FASHION_CHECK(conv_gives(&valid, x, ramp, half, 1, middle));

    // A kernel that is not square, on an image that is not square: 1 x 2 on 2 x 3.
    const fashion_conv2d_shape oblong = {1, 1, 2, 3, 1, 1, 2, 0};
    const float oblong_expected[4] = {5, 8, 14, 17};
    FASHION_CHECK(conv_gives(&oblong, x, ramp, NULL, 4, oblong_expected));

    // Padding wider than the kernel: outputs that see only padding are the bias.
    const fashion_conv2d_shape wide = {1, 1, 1, 1, 1, 1, 1, 2};
    float wide_expected[25];
    for (size_t i = 0; i < 25; i++) {
        wide_expected[i] = i == 12 ? 3.5F : 0.5F;
    }
    FASHION_CHECK(conv_gives(&wide, x + 2, ones, half, 25, wide_expected));

    // A batch of 2, 2 channels of 1 x 2, 2 outputs through 1 x 1 kernels.
    const fashion_conv2d_shape mixed = {2, 2, 1, 2, 2, 1, 1, 0};
    const float mixed_x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const float mixed_w[4] = {1, 10, 100, 1000};
    const float mixed_b[2] = {0.25F, -1};
    const float mixed_expected[8] = {31.25F, 42.25F, 3099, 4199, 75.25F, 86.25F, 7499, 8599};
    FASHION_CHECK(conv_gives(&mixed, mixed_x, mixed_w, mixed_b, 8, mixed_expected));

    // A kernel larger than the padded image has no output at all.
    const fashion_conv2d_shape none = {1, 1, 1, 1, 1, 3, 3, 0};
    FASHION_CHECK(fashion_conv2d_out_height(&none) == 0 && fashion_conv2d_out_width(&none) == 0);
    FASHION_CHECK(conv_gives(&none, x, ones, NULL, 0, NULL));
}

static void check_relu(void)
{
    const float x[5] = {-1, 0, 2, -INFINITY, NAN};
    const float expected[4] = {0, 0, 2, 0};
    float y[5];
    fashion_plain_relu(5, x, y);
    FASHION_CHECK(is_near(4, y, expected));
    FASHION_CHECK(isnan(y[4]));
}

static void check_pool(void)
{
    const float x[12] = {1, 5, 2, 3, 4, 9, -1, -2, -3, -4, -5, NAN};
    float y[4];

    // Two planes of 2 x 3: the third column does not fill a window.
    const fashion_pool2d_shape pairs = {2, 2, 3, 2, 2};
    FASHION_CHECK(fashion_pool2d_out_height(&pairs) == 1 && fashion_pool2d_out_width(&pairs) == 1);
    fashion_plain_max_pool2d(&pairs, x, y);
    const float pairs_expected[2] = {5, -1};
    FASHION_CHECK(is_near(2, y, pairs_expected));

    // Overlapping windows; the last one holds the NaN.
    const fashion_pool2d_shape overlap = {2, 2, 3, 2, 1};
    fashion_plain_max_pool2d(&overlap, x, y);
    const float overlap_expected[3] = {5, 9, -1};
    FASHION_CHECK(is_near(3, y, overlap_expected));
    FASHION_CHECK(isnan(y[3]));

    const fashion_pool2d_shape none = {1, 1, 1, 2, 2};
    FASHION_CHECK(fashion_pool2d_out_height(&none) == 0 && fashion_pool2d_out_width(&none) == 0);
}

static bool linear_gives(size_t n, size_t k, size_t m, const float *x, const float *w,
                         const float *b, const float *expected)
{
    float plain[8] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    float blas[8] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    fashion_plain_linear(n, k, m, x, w, b, plain);
    fashion_openblas_linear(n, k, m, x, w, b, blas);
    return is_near(n * m, plain, expected) && is_near(n * m, blas, expected);
}

static void check_linear(void)
{
    const float x[6] = {1, 2, 3, 4, 5, 6};
    const float w[6] = {1, 0, -1, 2, 2, 2};
    const float b[2] = {10, 20};
    const float with_bias[4] = {8, 32, 8, 50};
    const float without_bias[4] = {-2, 12, -2, 30};
    FASHION_CHECK(linear_gives(2, 3, 2, x, w, b, with_bias));
    FASHION_CHECK(linear_gives(2, 3, 2, x, w, NULL, without_bias));

    // Longer than the eight partial sums, with a rest: 1 + 2 + ... + 19.
    float counting[19];
    float ones[19];
    for (size_t i = 0; i < 19; i++) {
        counting[i] = (float)(i + 1);
        ones[i] = 1;
    }
    const float sum[1] = {190};
    FASHION_CHECK(linear_gives(1, 19, 1, counting, ones, NULL, sum));

    // No inputs: the result is the bias, or zero.
    const float zeros[2] = {0, 0};
    FASHION_CHECK(linear_gives(1, 0, 2, x, w, b, b));
    FASHION_CHECK(linear_gives(1, 0, 2, x, w, NULL, zeros));
}

static void check_softmax(void)
{
    const float x[6] = {0, 0, 0.69314718F, 1000, 1000, -1000};
    const float expected[6] = {0.25F, 0.25F, 0.5F, 0.5F, 0.5F, 0};
    float y[6];
    fashion_plain_softmax(2, 3, x, y);
    FASHION_CHECK(is_near(6, y, expected));
}

void fashion_test_math(void)
{
    check_conv();
    check_relu();
    check_pool();
    check_linear();
    check_softmax();
}

void fashion_test_histogram(void)
{
    static fashion_histogram first;
    static fashion_histogram second;
    fashion_histogram_init(&first);
    FASHION_CHECK(fashion_histogram_quantile(&first, 0.5) == 0);
    FASHION_CHECK(fashion_histogram_mean(&first) == 0.0);

    for (uint64_t i = 1; i <= 50; i++) {
        fashion_histogram_record(&first, i);
        fashion_histogram_record(&second, i + 50);
    }
    FASHION_CHECK(fashion_histogram_quantile(&first, 0.5) == 25);
    FASHION_CHECK(fashion_histogram_quantile(&first, 1.0) == 50);
    fashion_histogram_merge(&first, &second);
    FASHION_CHECK(first.total_count == 100);
    FASHION_CHECK(first.smallest_ns == 1 && first.largest_ns == 100);
    FASHION_CHECK(fashion_histogram_mean(&first) == 50.5);
    FASHION_CHECK(fashion_histogram_quantile(&first, 0.0) == 1);
    FASHION_CHECK(fashion_histogram_quantile(&first, -3.0) == 1);
    FASHION_CHECK(fashion_histogram_quantile(&first, 0.5) == 50);
    FASHION_CHECK(fashion_histogram_quantile(&first, 2.0) == 100);
    // 90 and 91 share a bucket: its upper end is returned.
    FASHION_CHECK(fashion_histogram_quantile(&first, 0.9) == 91);

    // Over the whole range a bucket's end is at least the value and at most 1/32 above it.
    bool is_close = true;
    for (uint64_t value = 1; value < UINT64_MAX / 3; value = value * 3 / 2 + 1) {
        fashion_histogram_init(&first);
        fashion_histogram_record(&first, value);
        fashion_histogram_record(&first, UINT64_MAX);
        const uint64_t got = fashion_histogram_quantile(&first, 0.5);
        is_close = is_close && got >= value && got - value <= value / 32;
    }
    FASHION_CHECK(is_close);
    FASHION_CHECK(fashion_histogram_quantile(&first, 1.0) == UINT64_MAX);
}
