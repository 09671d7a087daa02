// Network: the classifier of Fashion-MNIST images, with every layer a call through Keyway.
//
// Layer:   example (uses the generated nn.h)
// Threads: any; a network does not change once it is made
// SPDX-License-Identifier: MIT

#ifndef SERVE_NETWORK_H
#define SERVE_NETWORK_H

#include <fashion/weights.h>
#include <stdbool.h>

#include <keyway/dispatcher.h>
#include <keyway/tensor.h>

typedef enum serve_op {
    SERVE_OP_CONV2D = 0,
    SERVE_OP_RELU = 1,
    SERVE_OP_MAX_POOL2D = 2,
    SERVE_OP_LINEAR = 3,
    SERVE_OP_SOFTMAX = 4,
    SERVE_OP_COUNT = 5
} serve_op;

enum {
    SERVE_PARAMETER_COUNT = 8
};

typedef struct serve_network {
    const kw_operator *ops[SERVE_OP_COUNT];       // valid as long as the dispatcher
    kw_tensor *parameters[SERVE_PARAMETER_COUNT]; // owned; weight and bias of each layer in turn
} serve_network;

/// Finds the operators and copies the weights. On failure there is nothing to undo.
kw_status serve_network_init(serve_network *out_network, kw_dispatcher *dispatcher,
                             const fashion_weights *weights, kw_error *err);

/// Releases the weights. All zeros is allowed.
void serve_network_fini(serve_network *network);

/// Classifies images [n, 1, 28, 28], borrowed.
///
/// On success the caller owns logits and probabilities, [n, 10] each. On failure both are untouched
/// and kw_call_error() says why.
kw_status serve_network_run(const serve_network *network, kw_tensor *images, kw_tensor **out_logits,
                            kw_tensor **out_probabilities);

/// Returns the index of an operator in `ops`; SERVE_OP_COUNT for one of others.
size_t serve_network_op(const serve_network *network, const kw_operator *op);

/// Returns whether every operator has a kernel for the backend Canary, as of the thread's snapshot.
bool serve_network_has_canary(const serve_network *network);

#endif // SERVE_NETWORK_H
