// Trains a network of two layers on a few pictures, and says how its loss falls.
//
// Layer:     example (uses grad, layers, images)
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <math.h>
#include <ops.h>
#include <stdio.h>
#include <stdlib.h>

#include <keyway/local.h>

#include "fail.h"
#include "fresh.h"
#include "grad.h"
#include "images.h"
#include "layers.h"

#define HIDDEN 16
#define RATE 0.2

// Weights and biases, all leaves.
enum {
    WEIGHT_1,
    BIAS_1,
    WEIGHT_2,
    BIAS_2,
    LEAF_COUNT
};

typedef struct two_layers {
    kw_tensor *leaves[LEAF_COUNT];
} two_layers;

// Numbers from -limit to limit, the same in every run: Knuth's generator of MMIX.
static void scatter(float *data, int64_t count, double limit)
{
    static uint64_t state = 1;
    for (int64_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        data[i] = (float)(limit * ((double)(state >> 11) * 0x1p-52 - 1));
    }
}

static kw_status leaf_create(int64_t rows, int64_t columns, double limit, const kw_tensor *like,
                             kw_tensor **out_leaf)
{
    kw_error err = KW_ERROR_INIT;
    const int64_t sizes[] = {rows, columns};
    void *data = NULL;
    kw_tensor *leaf = NULL;
    kw_status status = grad_fresh(sizes, 2, like, &leaf);
    if (status == KW_OK) {
        status = grad_fail(kw_tensor_mutable_data(leaf, &data, &err), &err);
    }
    if (status == KW_OK) {
        scatter(data, rows * columns, limit);
        status = grad_require(leaf);
    }
    *out_leaf = leaf;
    return status;
}

static kw_status network_create(const kw_tensor *like, two_layers *out_network)
{
    kw_tensor **leaves = out_network->leaves;
    const double limit = 1 / sqrt(IMAGE_PIXELS);
    kw_status status = leaf_create(IMAGE_PIXELS, HIDDEN, limit, like, &leaves[WEIGHT_1]);
    if (status == KW_OK) {
        status = leaf_create(1, HIDDEN, 0, like, &leaves[BIAS_1]);
    }
    if (status == KW_OK) {
        status = leaf_create(HIDDEN, IMAGE_CLASSES, 1 / sqrt(HIDDEN), like, &leaves[WEIGHT_2]);
    }
    if (status == KW_OK) {
        status = leaf_create(1, IMAGE_CLASSES, 0, like, &leaves[BIAS_2]);
    }
    return status;
}

static void network_destroy(two_layers *network)
{
    for (int i = 0; i < LEAF_COUNT; i++) {
        kw_tensor_release(network->leaves[i]);
    }
}

// x weight + bias.
static kw_status layer(const two_layers *network, int first, kw_tensor *x, kw_tensor **out_y)
{
    kw_tensor *product = NULL;
    kw_status status = math_matmul_call(x, network->leaves[first], &product);
    if (status == KW_OK) {
        status = math_add_call(product, network->leaves[first + 1], MATH_ADD_ALPHA_DEFAULT, out_y);
    }
    kw_tensor_release(product);
    return status;
}

static kw_status loss_of(const two_layers *network, kw_tensor *pixels, kw_tensor *classes,
                         kw_tensor **out_loss)
{
    kw_tensor *hidden = NULL;
    kw_tensor *active = NULL;
    kw_tensor *scores = NULL;
    kw_status status = layer(network, WEIGHT_1, pixels, &hidden);
    if (status == KW_OK) {
        status = math_relu_call(hidden, &active);
    }
    if (status == KW_OK) {
        status = layer(network, WEIGHT_2, active, &scores);
    }
    if (status == KW_OK) {
        status = math_mse_loss_call(scores, classes, out_loss);
    }
    kw_tensor_release(scores);
    kw_tensor_release(active);
    kw_tensor_release(hidden);
    return status;
}

// Each leaf a step against its gradient. Below autograd: a step is no part of a graph.
static kw_status descend(const two_layers *network)
{
    kw_local_guard guard;
    kw_status status = kw_local_below_autograd(&guard);
    if (status != KW_OK) {
        return status;
    }
    for (int i = 0; i < LEAF_COUNT && status == KW_OK; i++) {
        kw_tensor *same = NULL;
        kw_tensor *leaf = network->leaves[i];
        status = math_add__call(leaf, grad_of(leaf), -RATE, &same);
        kw_tensor_release(same);
        grad_clear(leaf);
    }
    kw_local_restore(&guard);
    return status;
}

static kw_status train_step(const two_layers *network, kw_tensor *pixels, kw_tensor *classes,
                            float *out_loss)
{
    kw_tensor *loss = NULL;
    kw_status status = loss_of(network, pixels, classes, &loss);
    if (status == KW_OK) {
        *out_loss = *(const float *)kw_tensor_data(loss);
        status = grad_backward(loss, NULL, false);
    }
    kw_tensor_release(loss);
    return status == KW_OK ? descend(network) : status;
}

static kw_status train(const char *folder, int64_t image_count, int step_count, float *out_loss)
{
    kw_tensor *pixels = NULL;
    kw_tensor *classes = NULL;
    two_layers network = {{NULL}};
    kw_status status = grad_images_read(folder, image_count, &pixels, &classes);
    if (status == KW_OK) {
        status = network_create(pixels, &network);
    }
    for (int i = 0; i < step_count && status == KW_OK; i++) {
        status = train_step(&network, pixels, classes, out_loss);
        if (i % 10 == 0 || i == step_count - 1) {
            (void)printf("step %3d  loss %.5f\n", i, (double)*out_loss);
        }
    }
    network_destroy(&network);
    kw_tensor_release(classes);
    kw_tensor_release(pixels);
    return status;
}

// autograd <folder of the sample> [images] [steps] [bound]: exit status 0 if the last loss is
// below the bound.
int main(int argument_count, char **arguments)
{
    const char *folder = argument_count > 1 ? arguments[1] : AUTOGRAD_DATA_DIR;
    const long image_count = argument_count > 2 ? strtol(arguments[2], NULL, 10) : 512;
    const long step_count = argument_count > 3 ? strtol(arguments[3], NULL, 10) : 100;
    const double bound = argument_count > 4 ? strtod(arguments[4], NULL) : INFINITY;
    kw_error err = KW_ERROR_INIT;
    grad_layers layers;
    float loss = INFINITY;
    if (grad_layers_open(&layers, &err) != KW_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return EXIT_FAILURE;
    }
    kw_status status = train(folder, image_count, (int)step_count, &loss);
    if (status != KW_OK) {
        (void)fprintf(stderr, "%s\n", kw_call_error());
    }
    if (grad_layers_close(&layers, &err) != KW_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        status = KW_BUSY;
    }
    return status == KW_OK && (double)loss < bound ? EXIT_SUCCESS : EXIT_FAILURE;
}
