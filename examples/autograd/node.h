// Nodes of the tape: an operator that was called, what its gradient needs, and where it goes.
//
// Layer:     example (uses the library)
// Threads:   counts are atomic; the rest belongs to the thread that has the graph
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// Note [Who holds whom]
//
//     tensor -> metadata -> node -> nodes of the inputs -> ... -> nodes of leaves, with the
//     gradient
//                                -> saved tensors, detached
//
// There is no cycle. A node holds no tensor that has metadata: what it saves is a detached alias,
// which shares elements and version with the tensor and nothing else. So a node that saves its own
// output does not keep the output alive; and a leaf's node has the gradient, not the leaf.

#ifndef GRAD_NODE_H
#define GRAD_NODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <keyway/lease.h>
#include <keyway/status.h>
#include <keyway/tensor.h>

#include "grad.h"

#define GRAD_SAVED_MAX 2
#define GRAD_INPUTS_MAX 2

typedef struct grad_node grad_node;

// How an operator's gradient is made. `backward` leaves the gradient of each input that wants one
// in `out_grads`, owned by the caller, also when it fails; NULL: zero. It may be larger than the
// input by what was broadcast. `grad` is borrowed, and has the output's sizes.
typedef struct grad_formula {
    const char *op; // for texts
    kw_status (*backward)(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads);
} grad_formula;

typedef struct grad_edge {
    grad_node *node; // of the input, retained; NULL: it wants no gradient
    const int64_t *sizes;
    uint32_t dim;
} grad_edge;

typedef struct grad_saved {
    kw_tensor *tensor; // detached
    uint32_t version;  // when it was saved
} grad_saved;

struct grad_node {
    atomic_uint reference_count;
    bool is_freed; // gone back through: the saved tensors are released

    // An edge leads to a node with a smaller number.
    uint64_t sequence;

    const grad_formula *formula; // NULL: a leaf's
    kw_lease *lease;             // on the library whose code `formula` is
    grad_node *next_dead;        // while it ends
    size_t bytes;

    kw_tensor *grad; // of a leaf. Written under the lock of backward.c

    grad_saved saved[GRAD_SAVED_MAX];
    kw_tensor *view;    // whose place in the base this node is about, detached
    grad_node *inner;   // what was done to `view` in place
    int64_t numbers[3]; // of the formula, as is `factor`
    double factor;

    uint32_t edge_count;
    grad_edge edges[]; // one for each input, and behind them their sizes
};

// A tensor that a node's operator got, and the node of it; NULL: it wants no gradient. Borrowed.
typedef struct grad_input {
    const kw_tensor *tensor;
    grad_node *node;
} grad_input;

/// Creates a node with edges to those of its inputs, with one reference. `library` NULL: the
/// formula is the program's own.
kw_status grad_node_create(const grad_formula *formula, kw_library *library,
                           const grad_input *inputs, uint32_t input_count, grad_node **out_node);

/// Creates a leaf's node. NULL: no memory.
grad_node *grad_node_create_leaf(void);

/// One more reference, and one fewer; the last frees the node and what only it has held, however
/// long the chain. NULL is allowed.
grad_node *grad_node_retain(grad_node *node);
void grad_node_release(grad_node *node);

/// Saves a tensor as it is now.
kw_status grad_node_save(grad_node *node, uint32_t index, kw_tensor *tensor);

/// Whether what the node has saved is there and unchanged.
kw_status grad_node_check(const grad_node *node);

/// Releases what the node has saved: it cannot be gone back through again.
void grad_node_free_saved(grad_node *node);

static inline bool grad_node_is_leaf(const grad_node *node)
{
    return node->formula == NULL;
}

static inline bool grad_node_wants(const grad_node *node, uint32_t input_index)
{
    return node->edges[input_index].node != NULL;
}

#endif // GRAD_NODE_H
