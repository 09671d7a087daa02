// Operation: runs XNNPACK's operators, which are made once and shared.
//
// Layer:   example (uses XNNPACK, pool, support/cache)
// Threads: any, but for start and stop
// SPDX-License-Identifier: MIT
//
// Each run is made by the calling thread alone: XNNPACK gets no pool of threads.

#ifndef SERVE_PLUGINS_XNNPACK_OPERATION_H
#define SERVE_PLUGINS_XNNPACK_OPERATION_H

#include <stdint.h>

#include <keyway/tensor.h>

kw_status xnnpack_operations_start(kw_error *err);

/// Drops all operators, when none runs any more. XNNPACK itself stays initialised: it is for the
/// process, and ends with it.
void xnnpack_operations_stop(void);

// The functions below fail as kernels do. `x` and `y` are images in NHWC order, or rows, with the
// bytes behind them that XNNPACK reads; weight and bias are contiguous, bias may be NULL, sizes are
// right and nowhere 0.

kw_status xnnpack_conv2d(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                         int64_t padding, float *y);
kw_status xnnpack_relu(const kw_tensor *x, float *y);

/// A window of one pixel is not for XNNPACK: `size` is 2 at least.
kw_status xnnpack_max_pool2d(const kw_tensor *x, int64_t size, float *y);
kw_status xnnpack_linear(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias,
                         float *y);

#endif // SERVE_PLUGINS_XNNPACK_OPERATION_H
