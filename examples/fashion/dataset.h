// Dataset: the Fashion-MNIST test images and their labels, whole or as a sample, in memory.
//
// Layer:     example (uses idx)
// Threads:   any; a loaded dataset does not change and may be read by all
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_DATASET_H
#define FASHION_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

// Where Debian's package dataset-fashion-mnist puts its files.
#define FASHION_PACKAGE_DIR "/usr/share/datasets/fashion-mnist"

enum {
    FASHION_IMAGE_SIDE = 28,
    FASHION_IMAGE_PIXELS = 784, // 28 * 28
    FASHION_CLASSES = 10,
};

typedef enum fashion_source {
    FASHION_SOURCE_SAMPLE = 0,  // the first 512 test images, from the example's data folder
    FASHION_SOURCE_PACKAGE = 1, // all 10,000 test images, from the installed package
} fashion_source;

typedef struct fashion_dataset {
    uint8_t *pixels; // owned; [count, 28, 28], 0 is the background
    uint8_t *labels; // owned; [count], each 0 to 9
    size_t count;    // images; image i has row i of the reference, whatever the source
    fashion_source source;
} fashion_dataset;

/// Loads `t10k-images-idx3-ubyte.gz` and `t10k-labels-idx1-ubyte.gz` from a folder.
///
/// On success the caller ends `*out_dataset` with fashion_dataset_fini(). On failure it is
/// untouched and `err`, if not NULL, says why.
bool fashion_dataset_load_package(const char *package_dir, fashion_dataset *out_dataset,
                                  fashion_error *err);

/// Loads `sample-images.bin` and `sample-labels.bin` from a folder; otherwise the same.
bool fashion_dataset_load_sample(const char *data_dir, fashion_dataset *out_dataset,
                                 fashion_error *err);

/// Loads the package if its files are there, otherwise the sample; `source` says which.
///
/// `package_dir` may be NULL for FASHION_PACKAGE_DIR. A package that is there but damaged is a
/// failure: it is not replaced by the sample in silence.
bool fashion_dataset_load(const char *package_dir, const char *data_dir,
                          fashion_dataset *out_dataset, fashion_error *err);

/// Frees images and labels.
void fashion_dataset_fini(fashion_dataset *dataset);

/// Returns the 784 bytes of an image, valid until fashion_dataset_fini().
const uint8_t *fashion_dataset_image(const fashion_dataset *dataset, size_t index);

/// Returns "the installed package" or "the sample".
const char *fashion_source_text(fashion_source source);

/// Returns the English name of a class, "Sneaker" for 7; "?" outside 0 to 9.
const char *fashion_class_name(size_t class_index);

/// Turns bytes into the network's input: y[i] = bytes[i] / 255.
void fashion_pixels_to_input(size_t count, const uint8_t *restrict bytes, float *restrict y);

#endif // FASHION_DATASET_H
