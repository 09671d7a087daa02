// Nodes about a view's place in its base.
//
// Layer:     example (uses node)
// Threads:   as node.h
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef GRAD_SLICES_H
#define GRAD_SLICES_H

#include <keyway/status.h>
#include <keyway/tensor.h>

#include "node.h"

/// Makes the node of a view that was changed in place, from its base's; NULL if that has none.
kw_status grad_slices_read(kw_tensor *view, kw_tensor *base, grad_node **out_node);

/// Makes the base's new node, after `take_inner`, the node of an operator that changes `view` in
/// place, with `inputs` of which the view is the first.
kw_status grad_slices_write(kw_tensor *view, kw_tensor *base, grad_node *take_inner,
                            const grad_input *inputs, grad_node **out_node);

#endif // GRAD_SLICES_H
