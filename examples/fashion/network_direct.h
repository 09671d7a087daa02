// Direct network: the example's network as plain function calls, a baseline.
//
// Layer:     example (uses weights, math_plain, math_openblas)
// Threads:   any; the scratch belongs to the caller
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_NETWORK_DIRECT_H
#define FASHION_NETWORK_DIRECT_H

#include <stddef.h>

#include "weights.h"

typedef enum fashion_math {
    FASHION_MATH_PLAIN = 0,
    FASHION_MATH_OPENBLAS = 1,
} fashion_math;

/// Returns how many floats of scratch a batch needs.
size_t fashion_network_scratch_count(size_t batch);

/// Computes the logits of a batch of images.
///
/// x [batch, 1, 28, 28], scratch [scratch count], logits [batch, 10]. The scratch needs no initial
/// value and must not be used by two calls at once.
void fashion_network_direct(fashion_math math, const fashion_weights *weights, size_t batch,
                            const float *x, float *scratch, float *logits);

#endif // FASHION_NETWORK_DIRECT_H
