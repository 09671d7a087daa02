// Dataset: the Fashion-MNIST test images and their labels, whole or as a sample, in memory.
//
// Layer:     example (uses idx)
// Threads:   any; a loaded dataset does not change and may be read by all
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "dataset.h"

#include <stdio.h>
#include <stdlib.h>

#include "idx.h"

enum {
    path_bytes = 1024
};

static const char package_images[] = "t10k-images-idx3-ubyte.gz";
static const char package_labels[] = "t10k-labels-idx1-ubyte.gz";
static const char sample_images[] = "sample-images.bin";
static const char sample_labels[] = "sample-labels.bin";

static bool join_path(const char *dir, const char *name, char *out_path, fashion_error *err)
{
    int length = snprintf(out_path, path_bytes, "%s/%s", dir, name);
    if (length < 0 || length >= path_bytes) {
        fashion_error_set(err, "%s: the path is too long", name);
        return false;
    }
    return true;
}

static bool check_labels(const char *labels_path, const fashion_idx *images,
                         const fashion_idx *labels, fashion_error *err)
{
    if (images->count != labels->count) {
        fashion_error_set(err, "%s: %zu labels for %zu images", labels_path, labels->count,
                          images->count);
        return false;
    }
    for (size_t i = 0; i < labels->count; i++) {
        if (labels->bytes[i] >= FASHION_CLASSES) {
            fashion_error_set(err, "%s: label %u at %zu, expected 0 to %d", labels_path,
                              labels->bytes[i], i, FASHION_CLASSES - 1);
            return false;
        }
    }
    return true;
}

static bool load_pair(const char *images_path, const char *labels_path, fashion_source source,
                      fashion_dataset *out_dataset, fashion_error *err)
{
    fashion_idx images = {NULL, 0, 0};
    fashion_idx labels = {NULL, 0, 0};
    if (!fashion_idx_load(images_path, FASHION_IDX_IMAGES, &images, err)) {
        return false;
    }
    if (!fashion_idx_load(labels_path, FASHION_IDX_LABELS, &labels, err) ||
        !check_labels(labels_path, &images, &labels, err)) {
        fashion_idx_fini(&images);
        fashion_idx_fini(&labels);
        return false;
    }
    *out_dataset = (fashion_dataset){images.bytes, labels.bytes, images.count, source};
    return true;
}

bool fashion_dataset_load_package(const char *package_dir, fashion_dataset *out_dataset,
                                  fashion_error *err)
{
    char images_path[path_bytes];
    char labels_path[path_bytes];
    return join_path(package_dir, package_images, images_path, err) &&
           join_path(package_dir, package_labels, labels_path, err) &&
           load_pair(images_path, labels_path, FASHION_SOURCE_PACKAGE, out_dataset, err);
}

bool fashion_dataset_load_sample(const char *data_dir, fashion_dataset *out_dataset,
                                 fashion_error *err)
{
    char images_path[path_bytes];
    char labels_path[path_bytes];
    return join_path(data_dir, sample_images, images_path, err) &&
           join_path(data_dir, sample_labels, labels_path, err) &&
           load_pair(images_path, labels_path, FASHION_SOURCE_SAMPLE, out_dataset, err);
}

static bool has_file(const char *dir, const char *name)
{
    char path[path_bytes];
    if (!join_path(dir, name, path, NULL)) {
        return false;
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    (void)fclose(file);
    return true;
}

bool fashion_dataset_load(const char *package_dir, const char *data_dir,
                          fashion_dataset *out_dataset, fashion_error *err)
{
    const char *dir = package_dir != NULL ? package_dir : FASHION_PACKAGE_DIR;
    if (has_file(dir, package_images) || has_file(dir, package_labels)) {
        return fashion_dataset_load_package(dir, out_dataset, err);
    }
    return fashion_dataset_load_sample(data_dir, out_dataset, err);
}

void fashion_dataset_fini(fashion_dataset *dataset)
{
    free(dataset->pixels);
    free(dataset->labels);
    dataset->pixels = NULL;
    dataset->labels = NULL;
    dataset->count = 0;
}

const uint8_t *fashion_dataset_image(const fashion_dataset *dataset, size_t index)
{
    return dataset->pixels + index * FASHION_IMAGE_PIXELS;
}

const char *fashion_source_text(fashion_source source)
{
    return source == FASHION_SOURCE_PACKAGE ? "the installed package" : "the sample";
}

const char *fashion_class_name(size_t class_index)
{
    static const char *const names[FASHION_CLASSES] = {
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
        "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot",
    };
    return class_index < FASHION_CLASSES ? names[class_index] : "?";
}

void fashion_pixels_to_input(size_t count, const uint8_t *restrict bytes, float *restrict y)
{
    for (size_t i = 0; i < count; i++) {
        y[i] = (float)bytes[i] / 255.0F;
    }
}
