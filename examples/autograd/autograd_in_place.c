// The autograd layer: operators that change a tensor in place.
//
// Layer:     example (uses record)
// Threads:   the changed tensor is the caller's alone
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// The changed tensor is made of what it was and of the other input: it gets a new node, whose first
// edge leads to its old one. Of a view, the base gets it: Note [Views and their base].

#include <ops.h>

#include "formulas.h"
#include "layers.h"
#include "record.h"

static const grad_formula add_formula = {MATH_ADD__NAME, grad_formula_add};

static kw_status add_(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *y,
                      double alpha, kw_tensor **out_0)
{
    grad_record record = grad_record_begin_in_place(self, &add_formula, x, y);
    if (record.node != NULL) {
        record.node->factor = alpha;
    }
    if (grad_record_enter(&record)) {
        record.status =
            math_add__redispatch_on(self->op, grad_below(keys), x, y, alpha, &record.out);
    }
    return grad_record_end_in_place(&record, out_0);
}

static const grad_formula mul_formula = {MATH_MUL__NAME, grad_formula_mul};

static kw_status mul_(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *y,
                      kw_tensor **out_0)
{
    grad_record record = grad_record_begin_in_place(self, &mul_formula, x, y);
    if (grad_record_wants(&record, 1)) {
        grad_record_save_copy(&record, 0, x); // what it was
    }
    if (grad_record_wants(&record, 0) && kw_tensor_storage(x) == kw_tensor_storage(y)) {
        grad_record_save_copy(&record, 1, y);
    } else if (grad_record_wants(&record, 0)) {
        grad_record_save(&record, 1, y);
    }
    if (grad_record_enter(&record)) {
        record.status = math_mul__redispatch_on(self->op, grad_below(keys), x, y, &record.out);
    }
    return grad_record_end_in_place(&record, out_0);
}

// What was there has no part in it any more.
static kw_status fill_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    (void)node;
    (void)grad;
    (void)out_grads;
    return KW_OK;
}

static const grad_formula fill_formula = {MATH_FILL__NAME, fill_backward};

static kw_status fill_(const kw_kernel *self, kw_keyset keys, kw_tensor *x, double value,
                       kw_tensor **out_0)
{
    grad_record record = grad_record_begin_in_place(self, &fill_formula, x, NULL);
    if (grad_record_enter(&record)) {
        record.status = math_fill__redispatch_on(self->op, grad_below(keys), x, value, &record.out);
    }
    return grad_record_end_in_place(&record, out_0);
}

kw_status grad_stage_in_place(kw_transaction *tx, kw_library *library)
{
    const grad_kernel kernels[] = {
        {MATH_ADD__NAME, math_add__unboxed(add_)},
        {MATH_MUL__NAME, math_mul__unboxed(mul_)},
        {MATH_FILL__NAME, math_fill__unboxed(fill_)},
    };
    return grad_stage(tx, library, KW_KEY_Autograd, kernels, sizeof kernels / sizeof *kernels);
}
