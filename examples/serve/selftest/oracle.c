// Oracle: what an answer has to be, computed by plain C code without the server or Keyway.
//
// Layer:   example (uses fashion/)
// Threads: see the header
// SPDX-License-Identifier: MIT

#include "oracle.h"

#include <fashion/math_plain.h>
#include <fashion/reference.h>
#include <fashion/weights.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum {
    ACTIVATIONS = 16 * 28 * 28, // floats of one image in the largest activation
    THREADS = 2
};

static const float probability_tolerance = 1e-4F;
static const float recorded_tolerance = 1e-4F; // both add in float, in other orders

// One thread's share of the images.
typedef struct share {
    const selftest_oracle *oracle;
    const fashion_weights *weights;
    size_t first; // then each THREADS-th
    float one[ACTIVATIONS];
    float two[ACTIVATIONS];
} share;

// max_pool2d(relu(conv2d(x))) from one to two: [C, side, side] to [O, side / 2, side / 2].
static void conv_block(share *of, size_t side, const fashion_parameter *weight,
                       const fashion_parameter *bias)
{
    const fashion_conv2d_shape conv = {.batch = 1,
                                       .in_channels = weight->shape[1],
                                       .height = side,
                                       .width = side,
                                       .out_channels = weight->shape[0],
                                       .kernel_height = weight->shape[2],
                                       .kernel_width = weight->shape[3],
                                       .padding = 1};
    const fashion_pool2d_shape pool = {weight->shape[0], side, side, 2, 2};
    fashion_plain_conv2d(&conv, of->one, weight->values, bias->values, of->two);
    fashion_plain_relu(pool.planes * side * side, of->two, of->one);
    fashion_plain_max_pool2d(&pool, of->one, of->two);
}

static void compute_image(share *of, size_t image)
{
    const fashion_weights *weights = of->weights;
    fashion_pixels_to_input(FASHION_IMAGE_PIXELS,
                            fashion_dataset_image(&of->oracle->dataset, image), of->one);
    conv_block(of, 28, &weights->conv1_weight, &weights->conv1_bias);
    memcpy(of->one, of->two, sizeof(float) * 16 * 14 * 14);
    conv_block(of, 14, &weights->conv2_weight, &weights->conv2_bias);
    fashion_plain_linear(1, 1568, 64, of->two, weights->linear1_weight.values,
                         weights->linear1_bias.values, of->one);
    fashion_plain_relu(64, of->one, of->two);
    fashion_plain_linear(1, 64, FASHION_CLASSES, of->two, weights->linear2_weight.values,
                         weights->linear2_bias.values,
                         of->oracle->logits + image * FASHION_CLASSES);
}

static void *compute_share(void *context)
{
    share *of = context;
    for (size_t i = of->first; i < of->oracle->image_count; i += THREADS) {
        compute_image(of, i);
    }
    return NULL;
}

static bool compute(selftest_oracle *oracle, const fashion_weights *weights)
{
    pthread_t threads[THREADS];
    size_t started = 0;
    share *shares = calloc(THREADS, sizeof *shares);
    oracle->logits = calloc(oracle->image_count * FASHION_CLASSES, sizeof *oracle->logits);
    if (shares == NULL || oracle->logits == NULL) {
        free(shares);
        return false;
    }
    for (; started < THREADS; started++) {
        shares[started].oracle = oracle;
        shares[started].weights = weights;
        shares[started].first = started;
        if (pthread_create(&threads[started], NULL, compute_share, &shares[started]) != 0) {
            break;
        }
    }
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    free(shares);
    return started == THREADS;
}

// The recorded logits are PyTorch's: they show that the plain code computes the same network.
static bool compare(selftest_oracle *oracle, const char *path, fashion_error *error)
{
    fashion_reference recorded;
    if (!fashion_reference_load(path, oracle->image_count, &recorded, error)) {
        return false;
    }
    for (size_t i = 0; i < oracle->image_count * FASHION_CLASSES; i++) {
        oracle->recorded_distance =
            fmaxf(oracle->recorded_distance, fabsf(oracle->logits[i] - recorded.logits[i]));
    }
    fashion_reference_fini(&recorded);
    if (!(oracle->recorded_distance <= recorded_tolerance)) {
        (void)snprintf(error->text, sizeof error->text,
                       "the plain reference is %g off the recorded one",
                       (double)oracle->recorded_distance);
        return false;
    }
    return true;
}

static bool make(selftest_oracle *oracle, const selftest_options *options, fashion_error *error)
{
    char path[4096];
    fashion_weights weights;
    if (!fashion_dataset_load(options->package_folder, options->data_folder, &oracle->dataset,
                              error)) {
        return false;
    }
    oracle->image_count = oracle->dataset.count;
    if (options->image_max != 0 && options->image_max < oracle->image_count) {
        oracle->image_count = options->image_max;
    }
    (void)snprintf(path, sizeof path, "%s/weights.bin", options->data_folder);
    if (!fashion_weights_load(path, &weights, error)) {
        return false;
    }
    const bool is_made = compute(oracle, &weights);
    fashion_weights_fini(&weights);
    if (!is_made) {
        (void)snprintf(error->text, sizeof error->text, "no memory for the reference");
        return false;
    }
    (void)snprintf(path, sizeof path, "%s/reference-10k.bin", options->data_folder);
    return compare(oracle, path, error);
}

bool selftest_oracle_init(selftest_oracle *out_oracle, const selftest_options *options,
                          selftest_findings *findings)
{
    const uint64_t begun_ns = serve_now_ns();
    fashion_error error;
    *out_oracle = (selftest_oracle){.logits = NULL};
    if (!make(out_oracle, options, &error)) {
        selftest_find(findings, SELFTEST_SERVER, "%s", error.text);
        selftest_oracle_fini(out_oracle);
        return false;
    }
    out_oracle->seconds = (double)(serve_now_ns() - begun_ns) / 1e9;
    return true;
}

void selftest_oracle_fini(selftest_oracle *oracle)
{
    fashion_dataset_fini(&oracle->dataset);
    free(oracle->logits);
    oracle->logits = NULL;
}

size_t selftest_oracle_class(const selftest_oracle *oracle, size_t image)
{
    return fashion_argmax(FASHION_CLASSES, oracle->logits + image * FASHION_CLASSES);
}

float selftest_oracle_gap(const selftest_oracle *oracle, size_t image)
{
    const float *logits = oracle->logits + image * FASHION_CLASSES;
    const size_t best = selftest_oracle_class(oracle, image);
    float gap = INFINITY;
    for (size_t i = 0; i < FASHION_CLASSES; i++) {
        if (i != best) {
            gap = fminf(gap, logits[best] - logits[i]);
        }
    }
    return gap;
}

// Softmax is served by float kernels only, so its result follows from the answer's own logits.
static bool are_probabilities(const selftest_answer *answer)
{
    float expected[FASHION_CLASSES];
    fashion_plain_softmax(1, FASHION_CLASSES, answer->logits, expected);
    for (size_t i = 0; i < FASHION_CLASSES; i++) {
        if (!(fabsf(answer->probabilities[i] - expected[i]) <= probability_tolerance)) {
            return false;
        }
    }
    return true;
}

const char *selftest_oracle_check(const selftest_oracle *oracle, size_t image,
                                  const selftest_answer *answer, bool may_be_int8,
                                  float *out_distance)
{
    const float *expected = oracle->logits + image * FASHION_CLASSES;
    float distance = 0;
    for (size_t i = 0; i < FASHION_CLASSES; i++) {
        if (!isfinite(answer->logits[i])) {
            return "a logit is not finite";
        }
        distance = fmaxf(distance, fabsf(answer->logits[i] - expected[i]));
    }
    *out_distance = distance;
    if (answer->class_index != fashion_argmax(FASHION_CLASSES, answer->logits) ||
        strcmp(answer->label, fashion_class_name(answer->class_index)) != 0) {
        return "class and label are not those of its largest logit";
    }
    if (!are_probabilities(answer)) {
        return "the probabilities are not the softmax of its logits";
    }
    if (may_be_int8) {
        return distance <= SELFTEST_INT8_DISTANCE ? NULL
                                                  : "a logit is farther off than int8 rounds";
    }
    if (answer->class_index != selftest_oracle_class(oracle, image)) {
        return "another class than the reference";
    }
    return distance <= FASHION_TOLERANCE ? NULL : "a logit is too far from the reference";
}
