// Fresh tensors of the type and device of another one.
//
// Layer:     example (uses ops)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "fresh.h"

#include <ops.h>

#include "fail.h"

kw_status grad_fresh(const int64_t *sizes, uint32_t dim, const kw_tensor *like,
                     kw_tensor **out_tensor)
{
    kw_error err = KW_ERROR_INIT;
    const kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = sizes,
        .dim = dim,
        .dtype = kw_tensor_dtype(like),
        .device = kw_tensor_device(like),
    };
    return grad_fail(kw_tensor_create(&options, out_tensor, &err), &err);
}

kw_status grad_fresh_full(const int64_t *sizes, uint32_t dim, const kw_tensor *like, double value,
                          kw_tensor **out_tensor)
{
    kw_tensor *fresh = NULL;
    kw_tensor *same = NULL;
    kw_status status = grad_fresh(sizes, dim, like, &fresh);
    if (status == KW_OK) {
        status = math_fill__call(fresh, value, &same);
        kw_tensor_release(same);
    }
    if (status != KW_OK) {
        kw_tensor_release(fresh);
        return status;
    }
    *out_tensor = fresh;
    return KW_OK;
}
