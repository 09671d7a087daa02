// The layer ADInplaceOrView: versions of what is changed in place, and marks on views.
//
// Layer:     example (uses meta)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// It lies below autograd and runs also where nothing is recorded, so no change goes unnoticed. Two
// boxed functions serve every operator: what they have to know is in the frame.

#include <ops.h>

#include <keyway/call.h>
#include <keyway/tensor_view.h>

#include "fail.h"
#include "layers.h"
#include "meta.h"

static kw_keyset below(kw_keyset keys)
{
    return kw_keyset_intersection(keys, kw_keyset_full_after(KW_KEY_ADInplaceOrView));
}

static kw_status mark_view(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    (void)self;
    kw_status status = kw_redispatch_boxed(op, below(keys), frame);
    return status == KW_OK
               ? grad_meta_mark_view(frame->returns[0].as.as_tensor, frame->args[0].as.as_tensor)
               : status;
}

// Before the change, which then cannot go uncounted. One that fails is counted too: a gradient may
// be refused for nothing, but none is wrong.
static kw_status count_change(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                              kw_frame *frame)
{
    (void)self;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_bump_version(frame->args[0].as.as_tensor, &err);
    return status == KW_OK ? kw_redispatch_boxed(op, below(keys), frame) : grad_fail(status, &err);
}

kw_status grad_stage_marks(kw_transaction *tx, kw_library *library)
{
    const kw_kernel_descriptor view = KW_BOXED(mark_view);
    const kw_kernel_descriptor change = KW_BOXED(count_change);
    const grad_kernel kernels[] = {
        {MATH_TRANSPOSE_NAME, view}, {MATH_SELECT_NAME, view},  {MATH_SLICE_NAME, view},
        {MATH_VIEW_NAME, view},      {MATH_EXPAND_NAME, view},  {MATH_ADD__NAME, change},
        {MATH_MUL__NAME, change},    {MATH_FILL__NAME, change},
    };
    return grad_stage(tx, library, KW_KEY_ADInplaceOrView, kernels,
                      sizeof kernels / sizeof *kernels);
}
