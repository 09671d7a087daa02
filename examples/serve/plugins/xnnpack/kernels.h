// Kernels: under the key CPU, under the tag of the layout, and what leads out of it.
//
// Layer:   example (uses the generated nn.h, layout, operation)
// Threads: any
// SPDX-License-Identifier: MIT
//
// Note [In and out of the layout]
//
//   conv2d (CPU) ─ an image of whatever layout ─> XNNPACK ─> a tagged image
//   tagged image ─> conv2d, relu, max_pool2d (tag) ─> XNNPACK ─> a tagged image
//   tagged image ─> any other operator ─> the tag's fallback ─ plain ─> whoever serves below
//
// Kernels of the tag give way to another backend: if the call's keys name one above the CPU (the
// server's canary, or a device that has the weights), the image is made plain and the call goes on
// without the tag. It goes on by redispatch, with the call's own keys: a new call would ask the
// thread's include set again.

#ifndef SERVE_PLUGINS_XNNPACK_KERNELS_H
#define SERVE_PLUGINS_XNNPACK_KERNELS_H

#include <keyway/transaction.h>

/// Stages the kernels. kw_transaction_error() says why they could not be.
kw_status xnnpack_kernels_stage(kw_transaction *tx, kw_library *library);

#endif // SERVE_PLUGINS_XNNPACK_KERNELS_H
