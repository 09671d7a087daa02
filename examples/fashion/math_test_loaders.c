// Self-check, loaders: what they refuse, and the sentence that says why.
//
// Layer:     example (test)
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#define _POSIX_C_SOURCE 200809L // mkdtemp, unlink, rmdir

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "dataset.h"
#include "idx.h"
#include "math_test.h"
#include "reference.h"
#include "weights.h"

// One temporary folder with one file that each case writes anew.
typedef struct workplace {
    char dir[64];
    char path[96];
} workplace;

static bool says(const fashion_error *err, const char *part)
{
    if (strstr(err->text, part) != NULL) {
        return true;
    }
    printf("the sentence is: %s\n", err->text);
    return false;
}

static void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    const bool written = file != NULL && fwrite(bytes, 1, count, file) == count;
    const bool closed = file != NULL && fclose(file) == 0;
    FASHION_CHECK(written && closed);
}

static bool refuses_idx(const workplace *place, uint32_t magic, const char *part)
{
    fashion_idx idx = {NULL, 0, 0};
    fashion_error err = {""};
    return !fashion_idx_load(place->path, magic, &idx, &err) && idx.bytes == NULL &&
           says(&err, part);
}

static void check_idx(const workplace *place)
{
    // Three labels: 7, 8, 9.
    const unsigned char labels[11] = {0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9};
    FASHION_CHECK(refuses_idx(place, FASHION_IDX_LABELS, "No such file"));
    write_file(place->path, labels, 6);
    FASHION_CHECK(refuses_idx(place, FASHION_IDX_LABELS, "truncated"));
    write_file(place->path, labels, 10);
    FASHION_CHECK(refuses_idx(place, FASHION_IDX_LABELS, "truncated"));
    write_file(place->path, labels, 11);
    FASHION_CHECK(refuses_idx(place, FASHION_IDX_IMAGES, "wrong magic 0x00000801"));

    fashion_idx idx = {NULL, 0, 0};
    fashion_error err = {""};
    const bool loaded = fashion_idx_load(place->path, FASHION_IDX_LABELS, &idx, &err);
    FASHION_CHECK(loaded && idx.count == 3 && idx.item_bytes == 1);
    FASHION_CHECK(loaded && memcmp(idx.bytes, labels + 8, 3) == 0);
    fashion_idx_fini(&idx);

    const unsigned char too_long[10] = {0, 0, 8, 1, 0, 0, 0, 1, 7, 8};
    write_file(place->path, too_long, sizeof too_long);
    FASHION_CHECK(refuses_idx(place, FASHION_IDX_LABELS, "longer than its header"));
    const unsigned char empty[8] = {0, 0, 8, 1, 0, 0, 0, 0};
    write_file(place->path, empty, sizeof empty);
    FASHION_CHECK(refuses_idx(place, FASHION_IDX_LABELS, "0 items"));
    const unsigned char huge[8] = {0, 0, 8, 1, 255, 255, 255, 255};
    write_file(place->path, huge, sizeof huge);
    FASHION_CHECK(refuses_idx(place, FASHION_IDX_LABELS, "4294967295 items"));
    const unsigned char narrow[16] = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 27};
    write_file(place->path, narrow, sizeof narrow);
    FASHION_CHECK(refuses_idx(place, FASHION_IDX_IMAGES, "28 x 27"));
}

// A gzip file that is whole, cut, or has one bit changed in its checksum.
static void check_gzip(const workplace *place)
{
    const unsigned char labels[11] = {0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9};
    gzFile file = gzopen(place->path, "wb");
    const bool written = file != NULL && gzwrite(file, labels, sizeof labels) == sizeof labels;
    const bool closed = file != NULL && gzclose(file) == Z_OK;
    FASHION_CHECK(written && closed);

    fashion_idx idx = {NULL, 0, 0};
    FASHION_CHECK(fashion_idx_load(place->path, FASHION_IDX_LABELS, &idx, NULL) && idx.count == 3);
    fashion_idx_fini(&idx);

    unsigned char packed[128];
    FILE *plain = fopen(place->path, "rb");
    const size_t size = plain != NULL ? fread(packed, 1, sizeof packed, plain) : 0;
    FASHION_CHECK(plain != NULL && fclose(plain) == 0 && size > 18 && size < sizeof packed);
    write_file(place->path, packed, size - 6);
    FASHION_CHECK(refuses_idx(place, FASHION_IDX_LABELS, "truncated"));
    packed[size - 8] ^= 1;
    write_file(place->path, packed, size);
    FASHION_CHECK(refuses_idx(place, FASHION_IDX_LABELS, "damaged"));
}

// Writes a sample of one image and the given labels, and loads it.
static bool refuses_sample(const workplace *place, const unsigned char *labels, size_t bytes,
                           const char *part)
{
    static const unsigned char image[16 + 784] = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28};
    char images_path[96];
    char labels_path[96];
    (void)snprintf(images_path, sizeof images_path, "%s/sample-images.bin", place->dir);
    (void)snprintf(labels_path, sizeof labels_path, "%s/sample-labels.bin", place->dir);
    write_file(images_path, image, sizeof image);
    write_file(labels_path, labels, bytes);
    fashion_dataset dataset = {.pixels = NULL};
    fashion_error err = {""};
    const bool loaded = fashion_dataset_load_sample(place->dir, &dataset, &err);
    (void)unlink(images_path);
    (void)unlink(labels_path);
    return !loaded && dataset.pixels == NULL && says(&err, part);
}

static void check_dataset(const workplace *place, const char *data_dir)
{
    const unsigned char two[10] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 2};
    const unsigned char ten[9] = {0, 0, 8, 1, 0, 0, 0, 1, 10};
    FASHION_CHECK(refuses_sample(place, two, sizeof two, "2 labels for 1 images"));
    FASHION_CHECK(refuses_sample(place, ten, sizeof ten, "label 10 at 0"));

    // No package in the folder: the sample is taken and says so.
    fashion_dataset dataset = {.pixels = NULL};
    fashion_error err = {""};
    FASHION_CHECK(fashion_dataset_load(place->dir, data_dir, &dataset, &err));
    FASHION_CHECK(dataset.source == FASHION_SOURCE_SAMPLE && dataset.count == 512);
    fashion_dataset_fini(&dataset);

    // Half a package is a failure, not a reason to take the sample.
    char labels_path[96];
    (void)snprintf(labels_path, sizeof labels_path, "%s/t10k-labels-idx1-ubyte.gz", place->dir);
    write_file(labels_path, two, sizeof two);
    FASHION_CHECK(!fashion_dataset_load(place->dir, data_dir, &dataset, &err));
    FASHION_CHECK(says(&err, "t10k-images"));
    (void)unlink(labels_path);

    FASHION_CHECK(strcmp(fashion_class_name(7), "Sneaker") == 0);
    FASHION_CHECK(strcmp(fashion_class_name(10), "?") == 0);
}

static bool refuses_weights(const char *path, const char *part)
{
    fashion_weights weights = {.storage = NULL};
    fashion_error err = {""};
    return !fashion_weights_load(path, &weights, &err) && weights.storage == NULL &&
           says(&err, part);
}

static void check_weights(const workplace *place)
{
    static float values[FASHION_WEIGHTS_COUNT + 1];
    FASHION_CHECK(refuses_weights(place->dir, place->dir)); // a folder is not a file
    write_file(place->path, values, 0);
    FASHION_CHECK(refuses_weights(place->path, "0 bytes"));
    write_file(place->path, values, sizeof(float) + 2);
    FASHION_CHECK(refuses_weights(place->path, "6 bytes are not"));
    write_file(place->path, values, 4 * sizeof(float));
    FASHION_CHECK(refuses_weights(place->path, "4 floats, expected 105866"));
    write_file(place->path, values, sizeof values);
    FASHION_CHECK(refuses_weights(place->path, "longer than 105866"));
    values[5] = NAN;
    write_file(place->path, values, FASHION_WEIGHTS_COUNT * sizeof(float));
    FASHION_CHECK(refuses_weights(place->path, "value 5 is not finite"));
}

static void check_reference(const workplace *place)
{
    float rows[20] = {[3] = 5, [12] = 4, [17] = 4 - 5e-4F};
    fashion_reference reference = {NULL, 0};
    fashion_error err = {""};
    write_file(place->path, rows, 11 * sizeof(float));
    FASHION_CHECK(!fashion_reference_load(place->path, 1, &reference, &err));
    FASHION_CHECK(says(&err, "11 floats are not rows"));
    write_file(place->path, rows, sizeof rows);
    FASHION_CHECK(!fashion_reference_load(place->path, 3, &reference, &err));
    FASHION_CHECK(says(&err, "2 rows for 3 images"));
    if (!fashion_reference_load(place->path, 2, &reference, &err)) {
        FASHION_FAIL(err.text);
        return;
    }
    float distance = -1;
    FASHION_CHECK(fashion_reference_check(&reference, 0, rows, &distance) == FASHION_VERDICT_RIGHT);
    FASHION_CHECK(distance == 0.0F);
    FASHION_CHECK(fashion_reference_check(&reference, 2, rows, NULL) == FASHION_VERDICT_NO_ROW);
    rows[0] = 0.002F;
    FASHION_CHECK(fashion_reference_check(&reference, 0, rows, NULL) == FASHION_VERDICT_TOO_FAR);
    rows[0] = NAN;
    FASHION_CHECK(fashion_reference_check(&reference, 0, rows, NULL) == FASHION_VERDICT_NOT_FINITE);
    rows[12] = 4 - 9e-4F; // every logit is near, but the largest has changed
    FASHION_CHECK(fashion_reference_check(&reference, 1, rows + 10, NULL) ==
                  FASHION_VERDICT_OTHER_CLASS);
    fashion_reference_fini(&reference);
}

void fashion_test_loaders(const char *data_dir)
{
    workplace place = {.dir = "/tmp/fashion-math-test-XXXXXX"};
    if (mkdtemp(place.dir) == NULL) {
        FASHION_FAIL("no temporary folder can be made");
        return;
    }
    (void)snprintf(place.path, sizeof place.path, "%s/file", place.dir);
    check_idx(&place);
    check_gzip(&place);
    check_dataset(&place, data_dir);
    check_weights(&place);
    check_reference(&place);
    (void)unlink(place.path);
    FASHION_CHECK(rmdir(place.dir) == 0);
}
