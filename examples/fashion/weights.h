// Weights: the trained parameters of the example's network, in memory, by name.
//
// Layer:     example (uses float_file)
// Threads:   any; loaded weights do not change and may be read by all
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_WEIGHTS_H
#define FASHION_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

// Floats in the file: 144 + 16 + 4,608 + 32 + 100,352 + 64 + 640 + 10.
#define FASHION_WEIGHTS_COUNT 105866U

typedef struct fashion_parameter {
    const float *values; // borrowed from the weights; row-major
    size_t rank;
    size_t shape[4]; // `rank` extents, then zeros
} fashion_parameter;

// In file order.
typedef struct fashion_weights {
    fashion_parameter conv1_weight;   // [16, 1, 3, 3]
    fashion_parameter conv1_bias;     // [16]
    fashion_parameter conv2_weight;   // [32, 16, 3, 3]
    fashion_parameter conv2_bias;     // [32]
    fashion_parameter linear1_weight; // [64, 1568]
    fashion_parameter linear1_bias;   // [64]
    fashion_parameter linear2_weight; // [10, 64]
    fashion_parameter linear2_bias;   // [10]
    float *storage;                   // owned; all of the above
} fashion_weights;

/// Loads `weights.bin`.
///
/// On success the caller ends `*out_weights` with fashion_weights_fini(). On failure it is
/// untouched and `err`, if not NULL, says why: missing, another size, or a value not finite.
bool fashion_weights_load(const char *path, fashion_weights *out_weights, fashion_error *err);

/// Frees the values; every parameter of these weights ends.
void fashion_weights_fini(fashion_weights *weights);

/// Returns the product of the extents.
size_t fashion_parameter_count(const fashion_parameter *parameter);

#endif // FASHION_WEIGHTS_H
