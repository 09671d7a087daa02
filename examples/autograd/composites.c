// Operators that serve every backend: those made of other operators, and views.
//
// Layer:     example (uses ops)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// CompositeImplicitAutograd: the kernel runs above autograd, the operators that it calls are
// recorded, and it needs no formula of its own. CompositeExplicitAutograd: the kernel runs below,
// and the operator has a kernel in the autograd layer.

#include <ops.h>

#include <keyway/tensor_view.h>

#include "fail.h"
#include "layers.h"

// Implicit -------------------------------------------------------------------------------------

static kw_status sub(const kw_kernel *self, kw_keyset keys, kw_tensor *a, kw_tensor *b,
                     kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    return math_add_call(a, b, -1, out_0);
}

static kw_status mse_loss(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *target,
                          kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_tensor *off = NULL;
    kw_tensor *square = NULL;
    kw_status status = math_sub_call(x, target, &off);
    if (status == KW_OK) {
        status = math_mul_call(off, off, &square);
    }
    if (status == KW_OK) {
        status = math_mean_call(square, out_0);
    }
    kw_tensor_release(square);
    kw_tensor_release(off);
    return status;
}

static kw_status reshape(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_int_list sizes,
                         kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_tensor *copy = NULL;
    kw_status status = math_view_call(x, sizes, out_0);
    if (status != KW_NOT_SUPPORTED) {
        return status;
    }
    status = math_clone_call(x, &copy);
    if (status == KW_OK) {
        status = math_view_call(copy, sizes, out_0);
    }
    kw_tensor_release(copy);
    return status;
}

// Explicit -------------------------------------------------------------------------------------

static kw_status mean(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_tensor *sum = NULL;
    kw_status status = math_sum_call(x, NULL, false, &sum);
    if (status == KW_OK) {
        status = math_scale_call(sum, 1 / (double)kw_tensor_numel(x), out_0);
    }
    kw_tensor_release(sum);
    return status;
}

static kw_status clone_(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_error err = KW_ERROR_INIT;
    return grad_fail(kw_tensor_clone(x, KW_MEMORY_CONTIGUOUS, out_0, &err), &err);
}

static kw_status transpose(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t dim_0,
                           int64_t dim_1, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_error err = KW_ERROR_INIT;
    return grad_fail(kw_tensor_transpose(x, dim_0, dim_1, out_0, &err), &err);
}

static kw_status select_(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t dim,
                         int64_t index, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_error err = KW_ERROR_INIT;
    return grad_fail(kw_tensor_select(x, dim, index, out_0, &err), &err);
}

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status slice(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t dim,
                       int64_t start, int64_t end, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_error err = KW_ERROR_INIT;
    return grad_fail(kw_tensor_slice(x, dim, start, end, 1, out_0, &err), &err);
}

static kw_status view(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_int_list sizes,
                      kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_error err = KW_ERROR_INIT;
    return grad_fail(kw_tensor_view(x, sizes, out_0, &err), &err);
}

static kw_status expand(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_int_list sizes,
                        kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_error err = KW_ERROR_INIT;
    return grad_fail(kw_tensor_expand(x, sizes, out_0, &err), &err);
}

kw_status grad_stage_composites(kw_transaction *tx, kw_library *library)
{
    const grad_kernel implicit[] = {
        {MATH_SUB_NAME, math_sub_unboxed(sub)},
        {MATH_MSE_LOSS_NAME, math_mse_loss_unboxed(mse_loss)},
        {MATH_RESHAPE_NAME, math_reshape_unboxed(reshape)},
    };
    const grad_kernel explicit[] = {
        {MATH_MEAN_NAME, math_mean_unboxed(mean)},
        {MATH_CLONE_NAME, math_clone_unboxed(clone_)},
        {MATH_TRANSPOSE_NAME, math_transpose_unboxed(transpose)},
        {MATH_SELECT_NAME, math_select_unboxed(select_)},
        {MATH_SLICE_NAME, math_slice_unboxed(slice)},
        {MATH_VIEW_NAME, math_view_unboxed(view)},
        {MATH_EXPAND_NAME, math_expand_unboxed(expand)},
    };
    kw_status status = grad_stage(tx, library, KW_KEY_CompositeImplicitAutograd, implicit,
                                  sizeof implicit / sizeof *implicit);
    return status == KW_OK ? grad_stage(tx, library, KW_KEY_CompositeExplicitAutograd, explicit,
                                        sizeof explicit / sizeof *explicit)
                           : status;
}
