// Quantised weights: tensors of qint8 elements, with the scale of each output channel.
//
// Layer:   example (uses int8_math, tensors)
// Threads: any
// SPDX-License-Identifier: MIT
//
// Element type and device give such a tensor the key QuantizedCPU. The reference tensor has no
// place for scales, so they lie in its storage, behind the elements. Nothing of it is code of the
// plugin, so a quantised weight may outlive the plugin.

#ifndef SERVE_INT8_QUANTIZE_H
#define SERVE_INT8_QUANTIZE_H

#include <keyway/tensor.h>

#include "int8_math.h"

/// Quantises a float32 tensor of any device, by its first dimension.
///
/// On success the caller owns the reference. Fails as kernels do.
kw_status serve_int8_weight_create(kw_tensor *weight, kw_tensor **out_quantized);

/// Looks at a tensor that serve_int8_weight_create() has made; anything else is refused. There is
/// no bias yet. Fails as kernels do.
kw_status serve_int8_weight_read(const kw_tensor *quantized, serve_int8_weight *out_weight);

#endif // SERVE_INT8_QUANTIZE_H
