// Metadata of a tensor: where its gradient goes, and which tensor it is a view of.
//
// Layer:     example (uses node)
// Threads:   read by any while no thread changes the tensor
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// Note [Views and their base]
//
// The base is the first tensor of a chain of views; it has no base itself. An operator that changes
// a view in place changes what the base is made of: the base gets a new node (slices.h), and every
// view has another version than the one at which its own node was right. Such a view's node is made
// anew, from the base's, when it is asked for. So a base needs no list of its views.

#ifndef GRAD_META_H
#define GRAD_META_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/status.h>
#include <keyway/tensor.h>

#include "node.h"

typedef struct grad_meta {
    grad_node *node;  // retained; NULL: no gradient is wanted
    kw_tensor *base;  // of a view: retained
    uint32_t version; // of a view: at which `node` is right
    bool is_recorded; // of a view: made while gradients were recorded
} grad_meta;

/// Returns the tensor's metadata; NULL: it has none.
grad_meta *grad_meta_of(const kw_tensor *tensor);

/// The same, made if there is none.
kw_status grad_meta_ensure(kw_tensor *tensor, grad_meta **out_meta);

/// Finds the node that a gradient of the tensor goes to, as one reference; NULL: none is wanted.
kw_status grad_meta_edge(kw_tensor *tensor, grad_node **out_node);

/// Puts a node in the place of the tensor's own.
void grad_meta_set_node(grad_meta *meta, grad_node *take_node);

/// Makes `view` known as a view of `base`, or of what that is a view of.
kw_status grad_meta_mark_view(kw_tensor *view, kw_tensor *base);

#endif // GRAD_META_H
