// Broken kernels: a linear layer that is slightly wrong, to prove that the demo would notice.
//
// Layer:     example (uses kernels, kernel_shapes, math_plain)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "kernel_shapes.h"
#include "kernels.h"
#include "math_plain.h"
#include "reference.h"

static kw_status broken_linear(const kw_kernel *self, kw_keyset keys, fashion_tensor *x,
                               fashion_tensor *weight, fashion_tensor *bias, fashion_tensor **out_0)
{
    (void)keys;
    kw_status status = fashion_kernel_enter(self, FASHION_OP_LINEAR);
    if (status != KW_OK) {
        return status;
    }
    fashion_matrix_shape shape;
    fashion_tensor *y = NULL;
    status = fashion_linear_prepare(x, weight, bias, &shape, &y);
    if (status == KW_OK) {
        fashion_plain_linear(shape.n, shape.k, shape.m, fashion_tensor_values(x),
                             fashion_tensor_values(weight), fashion_tensor_values(bias), y->values);
        y->values[0] += 2 * FASHION_TOLERANCE;
    }
    return fashion_kernel_finish(self, status, y, out_0);
}

void fashion_broken_stage(fashion_change *change, kw_library *library, fashion_op op, kw_key key,
                          fashion_slot *out_slot)
{
    const kw_kernel_descriptor kernel =
        op == FASHION_OP_LINEAR ? nn_linear_unboxed(broken_linear) : fashion_plain_kernel(op);
    fashion_change_impl(change, library, op, key, kernel, out_slot);
}
