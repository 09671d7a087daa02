// Recipe: describes an operator of a shape to oneDNN.
//
// Layer:   example (uses layer)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SERVE_PLUGINS_ONEDNN_RECIPE_H
#define SERVE_PLUGINS_ONEDNN_RECIPE_H

#include "layer.h"
#include "operation.h"

/// Makes the layer of a shape. Fails as a kernel does.
kw_status onednn_recipe_make(const onednn_shape *shape, onednn_layer **out_layer);

#endif // SERVE_PLUGINS_ONEDNN_RECIPE_H
