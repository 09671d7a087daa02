// Test of the plugin int8: int8_test PLUGIN DATA_FOLDER CYCLES IMAGES [PACKAGE_FOLDER].
//
// Layer:   example (uses test_host, the generated nn.h)
// Threads: one; test_cycles starts others
// SPDX-License-Identifier: MIT
//
// Results are compared with plain loops over rounded numbers: nothing but the order of additions
// may differ. Then images are classified, the sample's or those of the package, and answers are
// counted that have the class of the float reference.

#include <fashion/dataset.h>
#include <fashion/math_plain.h>
#include <fashion/reference.h>
#include <math.h>
#include <nn.h>
#include <stdio.h>
#include <stdlib.h>

#include <keyway/local.h>

#include "tensors.h"
#include "test_cycles.h"

// 0.9972 and 0.3002 over the 10,000 images: README.md.
#define AGREEMENT_MIN 0.99
#define DISTANCE_MAX 0.5F

enum {
    BATCH = 16
};

// What is left of `count` numbers in steps of the largest over 127.
static void round_row(float *values, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs((double)values[i]));
    }
    for (size_t i = 0; i < count && largest > 0; i++) {
        values[i] = (float)(round((double)values[i] * 127 / largest) * largest / 127);
    }
}

static kw_tensor *rounded(kw_tensor *tensor)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *plain = test_plain(tensor);
    kw_tensor *copy = NULL;
    float *values = NULL;
    test_must(serve_tensor_create(kw_tensor_dim(plain), kw_tensor_sizes(plain), &copy, &values,
                                  &err) == KW_OK,
              "%s", err.text);
    const size_t rows = (size_t)kw_tensor_sizes(plain)[0];
    const size_t columns = (size_t)kw_tensor_numel(plain) / rows;
    for (size_t i = 0; i < rows * columns; i++) {
        values[i] = serve_tensor_values(plain)[i];
    }
    for (size_t i = 0; i < rows; i++) {
        round_row(values + i * columns, columns);
    }
    kw_tensor_release(plain);
    return copy;
}

// conv2d or, with a padding below 0, linear: by the plugin, and by plain loops.
static kw_tensor *run(test_host *host, kw_tensor *x, kw_tensor *weight, kw_tensor *bias,
                      int64_t padding)
{
    kw_tensor *y = NULL;
    const kw_status status =
        padding >= 0
            ? nn_conv2d_call_on(host->network.ops[SERVE_OP_CONV2D], x, weight, bias, padding, &y)
            : nn_linear_call_on(host->network.ops[SERVE_OP_LINEAR], x, weight, bias, &y);
    test_must(status == KW_OK, "%s", kw_call_error());
    return y;
}

// Sums of many products, for which a float is too short.
// NOLINTNEXTLINE(readability-function-size): three matrices and their sizes
static void multiply(size_t rows, size_t columns, size_t out_columns, const float *x,
                     const float *weight, const float *bias, float *y)
{
    for (size_t i = 0; i < rows * out_columns; i++) {
        double sum = bias != NULL ? bias[i % out_columns] : 0;
        for (size_t j = 0; j < columns; j++) {
            sum += (double)x[i / out_columns * columns + j] *
                   (double)weight[i % out_columns * columns + j];
        }
        y[i] = (float)sum;
    }
}

static kw_tensor *run_plainly(kw_tensor *x, kw_tensor *weight, kw_tensor *bias, int64_t padding,
                              const int64_t sizes[4])
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *near_x = rounded(x);
    kw_tensor *near_weight = rounded(weight);
    kw_tensor *near_bias = bias != NULL ? test_plain(bias) : NULL;
    kw_tensor *y = NULL;
    float *values = NULL;
    const int64_t *of_x = kw_tensor_sizes(x);
    const int64_t *of_weight = kw_tensor_sizes(weight);
    test_must(serve_tensor_create(padding >= 0 ? 4 : 2, sizes, &y, &values, &err) == KW_OK, "%s",
              err.text);
    if (padding >= 0) {
        const fashion_conv2d_shape shape = {
            (size_t)of_x[0],      (size_t)of_x[1],      (size_t)of_x[2],      (size_t)of_x[3],
            (size_t)of_weight[0], (size_t)of_weight[2], (size_t)of_weight[3], (size_t)padding};
        fashion_plain_conv2d(&shape, serve_tensor_values(near_x), serve_tensor_values(near_weight),
                             serve_tensor_values(near_bias), values);
    } else {
        multiply((size_t)of_x[0], (size_t)of_weight[1], (size_t)of_weight[0],
                 serve_tensor_values(near_x), serve_tensor_values(near_weight),
                 serve_tensor_values(near_bias), values);
    }
    kw_tensor_release(near_x);
    kw_tensor_release(near_weight);
    kw_tensor_release(near_bias);
    return y;
}

static void check_one(test_host *host, kw_tensor *x, kw_tensor *weight, kw_tensor *bias,
                      int64_t padding, const char *what)
{
    kw_tensor *y = run(host, x, weight, bias, padding);
    kw_tensor *expected = run_plainly(x, weight, bias, padding, kw_tensor_sizes(y));
    test_check(host, kw_tensor_dtype(y) == KW_DTYPE_FLOAT32, "%s: no float32", what);
    test_check(host, test_is_close(y, expected, 1e-4), "%s: other numbers", what);
    kw_tensor_release(expected);
    kw_tensor_release(y);
}

typedef kw_tensor *(*maker)(test_host *host, uint32_t dim, const int64_t *sizes);

static void check_shapes(test_host *host, maker make, const char *what)
{
    // batch, channels, height, width, out channels, kernel's height and width, padding
    static const int64_t shapes[][8] = {
        {1, 1, 1, 1, 1, 1, 1, 0}, {3, 1, 28, 28, 16, 3, 3, 1}, {2, 16, 14, 14, 5, 3, 3, 1},
        {2, 3, 5, 9, 4, 2, 5, 0}, {1, 2, 4, 3, 2, 4, 3, 3},    {2, 2, 3, 3, 2, 1, 1, 2},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const int64_t *shape = shapes[i];
        kw_tensor *x = make(host, 4, shape);
        kw_tensor *weight =
            make(host, 4, (const int64_t[]){shape[4], shape[1], shape[5], shape[6]});
        kw_tensor *bias = i % 2 == 0 ? make(host, 1, &shape[4]) : NULL;
        check_one(host, x, weight, bias, shape[7], what);
        kw_tensor_release(x);
        kw_tensor_release(weight);
        kw_tensor_release(bias);
    }
    static const int64_t matrices[][3] = {{1, 1, 1}, {16, 1568, 64}, {3, 67, 10}};
    for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++) {
        kw_tensor *x = make(host, 2, matrices[i]);
        kw_tensor *weight = make(host, 2, (const int64_t[]){matrices[i][2], matrices[i][1]});
        kw_tensor *bias = i % 2 == 0 ? make(host, 1, &matrices[i][2]) : NULL;
        check_one(host, x, weight, bias, -1, what);
        kw_tensor_release(x);
        kw_tensor_release(weight);
        kw_tensor_release(bias);
    }
}

// A tensor of ones.
static kw_tensor *ones(int64_t rows, int64_t columns)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *tensor = NULL;
    float *values = NULL;
    test_must(serve_tensor_create(2, (const int64_t[]){rows, columns}, &tensor, &values, &err) ==
                  KW_OK,
              "%s", err.text);
    for (int64_t i = 0; i < rows * columns; i++) {
        values[i] = 1;
    }
    return tensor;
}

// 140,000 products of 127 and 127 are more than an int32_t holds.
static void check_long_sum(test_host *host)
{
    kw_tensor *x = ones(1, 140000);
    kw_tensor *weight = ones(2, 140000);
    kw_tensor *y = run(host, x, weight, NULL, -1);
    test_check(host, fabsf(serve_tensor_values(y)[1] - 140000) < 1, "a long sum is %g",
               (double)serve_tensor_values(y)[1]);
    kw_tensor_release(x);
    kw_tensor_release(weight);
    kw_tensor_release(y);
}

// A weight that is written, and one that gets the place of another, are quantised again.
static void check_weights(test_host *host)
{
    const int64_t sizes[] = {3, 4};
    kw_error err = KW_ERROR_INIT;
    kw_tensor *x = test_random(host, 2, sizes);
    kw_tensor *source = test_random(host, 2, sizes);
    const kw_tensor_options options = {
        .struct_size = sizeof options, .sizes = sizes, .dim = 2, .dtype = KW_DTYPE_FLOAT32};
    kw_tensor *weight = NULL;
    test_must(kw_tensor_create(&options, &weight, &err) == KW_OK, "%s", err.text);
    for (int i = 0; i < 3; i++) {
        test_must(kw_tensor_copy(weight, source, &err) == KW_OK, "%s", err.text);
        check_one(host, x, weight, NULL, -1, "a weight that has been written");
        kw_tensor_release(source);
        source = test_random(host, 2, sizes);
    }
    test_must(kw_tensor_set_data(weight, source, &err) == KW_OK, "%s", err.text);
    check_one(host, x, weight, NULL, -1, "a weight with other data");
    kw_tensor_release(weight);
    for (int i = 0; i < 200; i++) {
        weight = test_random(host, 2, sizes);
        check_one(host, x, weight, NULL, -1, "one of many weights");
        kw_tensor_release(weight);
    }
    kw_tensor_release(source);
    kw_tensor_release(x);
}

// Whatever is refused is refused with a sentence.
static void check_refused(test_host *host)
{
    const kw_operator *op = host->network.ops[SERVE_OP_LINEAR];
    kw_error err = KW_ERROR_INIT;
    kw_tensor *x = test_random(host, 2, (const int64_t[]){2, 4});
    kw_tensor *weight = test_random(host, 2, (const int64_t[]){3, 4});
    kw_tensor *narrow = test_random(host, 2, (const int64_t[]){3, 3});
    const kw_tensor_options foreign_options = {.struct_size = sizeof foreign_options,
                                               .sizes = kw_tensor_sizes(weight),
                                               .dim = 2,
                                               .dtype = KW_DTYPE_QINT8,
                                               .inference = KW_INFERENCE_ALWAYS};
    kw_tensor *foreign = NULL;
    kw_tensor *y = NULL;
    void *data = NULL;
    test_must(kw_tensor_create(&foreign_options, &foreign, &err) == KW_OK, "%s", err.text);
    test_check(host, nn_linear_call_on(op, x, narrow, NULL, &y) == KW_WRONG_VALUE,
               "a weight of other columns");
    test_check(host, nn_linear_call_on(op, x, foreign, NULL, &y) == KW_NOT_SUPPORTED,
               "a weight that somebody else has quantised");
    test_must(kw_tensor_mutable_data(x, &data, &err) == KW_OK, "%s", err.text);
    ((float *)data)[5] = NAN;
    test_check(host, nn_linear_call_on(op, x, weight, NULL, &y) == KW_WRONG_VALUE,
               "an x that is not finite");
    ((float *)data)[5] = -INFINITY;
    test_check(host, nn_linear_call_on(op, x, weight, NULL, &y) == KW_WRONG_VALUE,
               "an x that is infinite");
    kw_tensor_release(x);
    kw_tensor_release(weight);
    kw_tensor_release(narrow);
    kw_tensor_release(foreign);
}

typedef struct agreement {
    size_t images;
    size_t agreeing;
    size_t right; // by their labels
    float distance;
} agreement;

static void classify(test_host *host, const fashion_dataset *images,
                     const fashion_reference *reference, size_t first, agreement *found)
{
    const size_t count = images->count - first < BATCH ? images->count - first : BATCH;
    const int64_t sizes[] = {(int64_t)count, 1, FASHION_IMAGE_SIDE, FASHION_IMAGE_SIDE};
    kw_error err = KW_ERROR_INIT;
    kw_tensor *x = NULL;
    kw_tensor *logits = NULL;
    kw_tensor *probabilities = NULL;
    float *values = NULL;
    test_must(serve_tensor_create(4, sizes, &x, &values, &err) == KW_OK, "%s", err.text);
    for (size_t i = 0; i < count; i++) {
        fashion_pixels_to_input(FASHION_IMAGE_PIXELS, fashion_dataset_image(images, first + i),
                                values + i * FASHION_IMAGE_PIXELS);
    }
    test_must(serve_network_run(&host->network, x, &logits, &probabilities) == KW_OK, "%s",
              kw_call_error());
    for (size_t i = 0; i < count; i++) {
        const float *found_row = serve_tensor_values(logits) + i * FASHION_CLASSES;
        const float *expected = reference->logits + (first + i) * FASHION_CLASSES;
        const size_t class_index = fashion_argmax(FASHION_CLASSES, found_row);
        found->images++;
        found->agreeing += class_index == fashion_argmax(FASHION_CLASSES, expected);
        found->right += class_index == images->labels[first + i];
        for (size_t j = 0; j < FASHION_CLASSES; j++) {
            found->distance = fmaxf(found->distance, fabsf(found_row[j] - expected[j]));
        }
    }
    kw_tensor_release(x);
    kw_tensor_release(logits);
    kw_tensor_release(probabilities);
}

static void check_agreement(test_host *host, const char *data_folder, const char *package_folder,
                            size_t count)
{
    fashion_dataset images;
    fashion_reference reference;
    fashion_error err = {""};
    char path[4096];
    test_must(package_folder != NULL ? fashion_dataset_load_package(package_folder, &images, &err)
                                     : fashion_dataset_load_sample(data_folder, &images, &err),
              "%s", err.text);
    (void)snprintf(path, sizeof path, "%s/reference-10k.bin", data_folder);
    test_must(count <= images.count, "there are %zu images", images.count);
    images.count = count;
    test_must(fashion_reference_load(path, images.count, &reference, &err), "%s", err.text);
    agreement found = {.images = 0};
    for (size_t i = 0; i < images.count; i += BATCH) {
        classify(host, &images, &reference, i, &found);
    }
    const double rate = (double)found.agreeing / (double)found.images;
    (void)printf("%zu images: %zu with the reference's class (%.4f), %zu with their label's; "
                 "largest difference of a logit %.4f\n",
                 found.images, found.agreeing, rate, found.right, (double)found.distance);
    test_check(host, rate >= AGREEMENT_MIN, "the rate is below %g", AGREEMENT_MIN);
    test_check(host, found.distance <= DISTANCE_MAX && found.distance > 0.001F,
               "logits of these kernels differ by more than 0.001, and by less than %g",
               (double)DISTANCE_MAX);
    fashion_dataset_fini(&images);
    fashion_reference_fini(&reference);
}

int main(int argc, char **argv)
{
    if (argc != 5 && argc != 6) {
        (void)puts("usage: int8_test PLUGIN DATA_FOLDER CYCLES IMAGES [PACKAGE_FOLDER]");
        return 2;
    }
    test_host host;
    test_host_start(&host, argv[2]);
    test_host_load(&host, argv[1]);
    check_shapes(&host, test_random, "contiguous");
    check_shapes(&host, test_random_apart, "lying apart");
    check_long_sum(&host);
    check_weights(&host);
    check_refused(&host);
    check_agreement(&host, argv[2], argv[5], strtoul(argv[4], NULL, 10));
    test_host_unload(&host);
    test_cycles(&host, argv[1], argv[2], (unsigned)strtoul(argv[3], NULL, 10), DISTANCE_MAX);
    return test_host_stop(&host);
}
