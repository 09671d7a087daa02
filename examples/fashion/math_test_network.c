// Self-check, network: every image with both math sets against the recorded reference.
//
// Layer:     example (test)
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dataset.h"
#include "math_test.h"
#include "network_direct.h"
#include "reference.h"
#include "weights.h"

enum {
    largest_batch = 8
};

typedef struct inputs {
    fashion_dataset dataset;
    fashion_reference reference;
    fashion_weights weights;
} inputs;

typedef struct figures {
    size_t image_count;
    size_t correct_count; // the label's class
    size_t wrong_count;   // not equal to the reference
    float largest_distance;
    double seconds;
} figures;

static double now_seconds(void)
{
    struct timespec now;
    (void)timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Counts the answer to one image.
static void judge(const inputs *in, size_t index, const float *logits, figures *total)
{
    float distance = 0.0F;
    const fashion_verdict verdict =
        fashion_reference_check(&in->reference, index, logits, &distance);
    if (verdict != FASHION_VERDICT_RIGHT) {
        total->wrong_count++;
        printf("image %zu: %s\n", index, fashion_verdict_text(verdict));
    }
    if (distance > total->largest_distance) {
        total->largest_distance = distance;
    }
    total->correct_count += fashion_argmax(FASHION_CLASSES, logits) == in->dataset.labels[index];
    total->image_count++;
}

static bool run_all(const inputs *in, fashion_math math, size_t batch, figures *total)
{
    float x[largest_batch * FASHION_IMAGE_PIXELS];
    float logits[largest_batch * FASHION_CLASSES];
    float *scratch = malloc(fashion_network_scratch_count(batch) * sizeof *scratch);
    if (scratch == NULL) {
        return false;
    }
    memset(total, 0, sizeof *total);
    for (size_t first = 0; first < in->dataset.count; first += batch) {
        const size_t rest = in->dataset.count - first;
        const size_t count = rest < batch ? rest : batch;
        const double start = now_seconds();
        fashion_pixels_to_input(count * FASHION_IMAGE_PIXELS,
                                fashion_dataset_image(&in->dataset, first), x);
        fashion_network_direct(math, &in->weights, count, x, scratch, logits);
        total->seconds += now_seconds() - start;
        for (size_t i = 0; i < count; i++) {
            judge(in, first + i, logits + i * FASHION_CLASSES, total);
        }
    }
    free(scratch);
    return true;
}

static void check_math(const inputs *in, fashion_math math, const char *name, size_t batch)
{
    figures total;
    FASHION_CHECK(run_all(in, math, batch, &total));
    FASHION_CHECK(total.image_count == in->dataset.count);
    FASHION_CHECK(total.wrong_count == 0);
    // The weights that come with the example reach 0.9067, and 0.9102 on the sample; weights
    // trained anew may differ by a per cent or two.
    FASHION_CHECK(total.correct_count * 100 >= total.image_count * 88);
    printf("%-8s batch %zu: %zu of %zu correct, %zu wrong against the reference, "
           "largest logit difference %.2g, %.0f images/s\n",
           name, batch, total.correct_count, total.image_count, total.wrong_count,
           (double)total.largest_distance, (double)total.image_count / total.seconds);
}

static bool load(const char *data_dir, const char *package_dir, inputs *in, fashion_error *err)
{
    char path[1024];
    const bool has_dataset = package_dir != NULL
                                 ? fashion_dataset_load_package(package_dir, &in->dataset, err)
                                 : fashion_dataset_load_sample(data_dir, &in->dataset, err);
    (void)snprintf(path, sizeof path, "%s/weights.bin", data_dir);
    if (!has_dataset || !fashion_weights_load(path, &in->weights, err)) {
        return false;
    }
    (void)snprintf(path, sizeof path, "%s/reference-10k.bin", data_dir);
    return fashion_reference_load(path, in->dataset.count, &in->reference, err);
}

void fashion_test_network(const char *data_dir, const char *package_dir)
{
    inputs in = {.dataset = {.pixels = NULL}};
    fashion_error err = {""};
    if (load(data_dir, package_dir, &in, &err)) {
        printf("images: %s, %zu of them\n", fashion_source_text(in.dataset.source),
               in.dataset.count);
        check_math(&in, FASHION_MATH_PLAIN, "plain", 1);
        check_math(&in, FASHION_MATH_OPENBLAS, "openblas", 1);
        // A size that does not divide the count, so that the last batch is smaller.
        check_math(&in, FASHION_MATH_PLAIN, "plain", 7);
        check_math(&in, FASHION_MATH_OPENBLAS, "openblas", 7);
    } else {
        FASHION_FAIL(err.text);
    }
    fashion_dataset_fini(&in.dataset);
    fashion_reference_fini(&in.reference);
    fashion_weights_fini(&in.weights);
}
