// Plain kernels: the five operators in portable C, as typed kernels.
//
// Layer:     example (uses kernels, kernel_shapes, math_plain)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "kernel_shapes.h"
#include "kernels.h"
#include "math_plain.h"

// Enters the kernel's state for a result that is already made; releases the result on failure.
static kw_status enter(kw_status prepared, const kw_kernel *self, fashion_op op,
                       fashion_tensor *take_result)
{
    if (prepared != KW_OK) {
        return prepared;
    }
    const kw_status status = fashion_kernel_enter(self, op);
    if (status != KW_OK) {
        fashion_tensor_release(take_result);
    }
    return status;
}

