// Model: the network, with every operator called through Keyway.
//
// Layer:     example (uses ops, weights)
// Threads:   any; a model does not change once it is made
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_MODEL_H
#define FASHION_MODEL_H

#include <stdbool.h>

#include "ops.h"
#include "weights.h"

typedef struct fashion_model {
    fashion_ops ops;
    fashion_tensor *conv1_weight; // owned, as all that follow
    fashion_tensor *conv1_bias;
    fashion_tensor *conv2_weight;
    fashion_tensor *conv2_bias;
    fashion_tensor *linear1_weight;
    fashion_tensor *linear1_bias;
    fashion_tensor *linear2_weight;
    fashion_tensor *linear2_bias;
} fashion_model;

/// Makes a model with copies of the weights. On failure memory is out and there is none.
bool fashion_model_init(fashion_model *model, const fashion_ops *ops,
                        const fashion_weights *weights);

/// Releases the weights. All zeros is allowed.
void fashion_model_fini(fashion_model *model);

/// Classifies a batch of images [N, 1, 28, 28], which is borrowed.
///
/// On success the caller owns the logits and the probabilities, [N, 10] each. On failure they are
/// untouched and kw_call_error() says why.
kw_status fashion_model_run(const fashion_model *model, fashion_tensor *images,
                            fashion_tensor **out_logits, fashion_tensor **out_probabilities);

#endif // FASHION_MODEL_H
