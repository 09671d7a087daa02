// The autograd layer: operators that work element by element, and the product of matrices.
//
// Layer:     example (uses record)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// For each operator a formula, which is run on the way back, and a kernel, which records on the way
// forward. Both go through operators, so they serve every backend. A formula need not care about
// broadcasting: what is too large is added up by whoever asked.

#include <ops.h>

#include <keyway/tensor_view.h>

#include "formulas.h"
#include "layers.h"
#include "record.h"

static kw_status pass_on(kw_tensor *grad, kw_tensor **out_grad)
{
    kw_tensor_retain(grad);
    *out_grad = grad;
    return KW_OK;
}

// a + alpha b ----------------------------------------------------------------------------------

kw_status grad_formula_add(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    if (grad_node_wants(node, 0)) {
        (void)pass_on(grad, &out_grads[0]);
    }
    if (!grad_node_wants(node, 1)) {
        return KW_OK;
    }
    return node->factor == 1 ? pass_on(grad, &out_grads[1])
                             : math_scale_call(grad, node->factor, &out_grads[1]);
}

static const grad_formula add_formula = {MATH_ADD_NAME, grad_formula_add};

static kw_status add(const kw_kernel *self, kw_keyset keys, kw_tensor *a, kw_tensor *b,
                     double alpha, kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &add_formula, a, b);
    if (record.node != NULL) {
        record.node->factor = alpha;
    }
    if (grad_record_enter(&record)) {
        record.status =
            math_add_redispatch_on(self->op, grad_below(keys), a, b, alpha, &record.out);
    }
    return grad_record_end(&record, out_0);
}

// a b ------------------------------------------------------------------------------------------

kw_status grad_formula_mul(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    kw_status status = KW_OK;
    if (grad_node_wants(node, 0)) {
        status = math_mul_call(grad, node->saved[1].tensor, &out_grads[0]);
    }
    if (status == KW_OK && grad_node_wants(node, 1)) {
        status = math_mul_call(grad, node->saved[0].tensor, &out_grads[1]);
    }
    return status;
}

static const grad_formula mul_formula = {MATH_MUL_NAME, grad_formula_mul};

// Saves of each input what the gradient of the other one needs.
static void save_crosswise(grad_record *record, kw_tensor *a, kw_tensor *b)
{
    if (grad_record_wants(record, 1)) {
        grad_record_save(record, 0, a);
    }
    if (grad_record_wants(record, 0)) {
        grad_record_save(record, 1, b);
    }
}

static kw_status mul(const kw_kernel *self, kw_keyset keys, kw_tensor *a, kw_tensor *b,
                     kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &mul_formula, a, b);
    save_crosswise(&record, a, b);
    if (grad_record_enter(&record)) {
        record.status = math_mul_redispatch_on(self->op, grad_below(keys), a, b, &record.out);
    }
    return grad_record_end(&record, out_0);
}

// y = a / b: da = grad / b, db = -da y ---------------------------------------------------------

static kw_status div_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    kw_tensor *da = NULL;
    kw_tensor *product = NULL;
    kw_status status = math_div_call(grad, node->saved[1].tensor, &da);
    if (status == KW_OK && grad_node_wants(node, 1)) {
        status = math_mul_call(da, node->saved[0].tensor, &product);
        if (status == KW_OK) {
            status = math_scale_call(product, -1, &out_grads[1]);
        }
        kw_tensor_release(product);
    }
    out_grads[0] = da;
    return status;
}

static const grad_formula div_formula = {MATH_DIV_NAME, div_backward};

static kw_status div_(const kw_kernel *self, kw_keyset keys, kw_tensor *a, kw_tensor *b,
                      kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &div_formula, a, b);
    grad_record_save(&record, 1, b);
    if (grad_record_enter(&record)) {
        record.status = math_div_redispatch_on(self->op, grad_below(keys), a, b, &record.out);
    }
    return grad_record_end_saving(&record, out_0);
}

// factor x -------------------------------------------------------------------------------------

static kw_status scale_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    return math_scale_call(grad, node->factor, &out_grads[0]);
}

static const grad_formula scale_formula = {MATH_SCALE_NAME, scale_backward};

static kw_status scale(const kw_kernel *self, kw_keyset keys, kw_tensor *x, double factor,
                       kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &scale_formula, x, NULL);
    if (record.node != NULL) {
        record.node->factor = factor;
    }
    if (grad_record_enter(&record)) {
        record.status =
            math_scale_redispatch_on(self->op, grad_below(keys), x, factor, &record.out);
    }
    return grad_record_end(&record, out_0);
}

// relu, exp and log ----------------------------------------------------------------------------

static kw_status relu_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    return math_relu_mask_call(grad, node->saved[0].tensor, &out_grads[0]);
}

static kw_status exp_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    return math_mul_call(grad, node->saved[0].tensor, &out_grads[0]);
}

static kw_status log_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    return math_div_call(grad, node->saved[0].tensor, &out_grads[0]);
}

static const grad_formula relu_formula = {MATH_RELU_NAME, relu_backward};
static const grad_formula exp_formula = {MATH_EXP_NAME, exp_backward};
static const grad_formula log_formula = {MATH_LOG_NAME, log_backward};

static kw_status relu(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &relu_formula, x, NULL);
    if (grad_record_enter(&record)) {
        record.status = math_relu_redispatch_on(self->op, grad_below(keys), x, &record.out);
    }
    return grad_record_end_saving(&record, out_0);
}

static kw_status exp_(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &exp_formula, x, NULL);
    if (grad_record_enter(&record)) {
        record.status = math_exp_redispatch_on(self->op, grad_below(keys), x, &record.out);
    }
    return grad_record_end_saving(&record, out_0);
}

static kw_status log_(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &log_formula, x, NULL);
    grad_record_save(&record, 0, x);
    if (grad_record_enter(&record)) {
        record.status = math_log_redispatch_on(self->op, grad_below(keys), x, &record.out);
    }
    return grad_record_end(&record, out_0);
}

// The product of matrices: da = grad b', db = a' grad ------------------------------------------

static kw_status matmul_transposed(kw_tensor *a, kw_tensor *b, bool first, kw_tensor **out_product)
{
    kw_tensor *turned = NULL;
    kw_status status = math_transpose_call(first ? a : b, 0, 1, &turned);
    if (status == KW_OK) {
        status = math_matmul_call(first ? turned : a, first ? b : turned, out_product);
    }
    kw_tensor_release(turned);
    return status;
}

static kw_status matmul_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    kw_status status = KW_OK;
    if (grad_node_wants(node, 0)) {
        status = matmul_transposed(grad, node->saved[1].tensor, false, &out_grads[0]);
    }
    if (status == KW_OK && grad_node_wants(node, 1)) {
        status = matmul_transposed(node->saved[0].tensor, grad, true, &out_grads[1]);
    }
    return status;
}

static const grad_formula matmul_formula = {MATH_MATMUL_NAME, matmul_backward};

static kw_status matmul(const kw_kernel *self, kw_keyset keys, kw_tensor *a, kw_tensor *b,
                        kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &matmul_formula, a, b);
    save_crosswise(&record, a, b);
    if (grad_record_enter(&record)) {
        record.status = math_matmul_redispatch_on(self->op, grad_below(keys), a, b, &record.out);
    }
    return grad_record_end(&record, out_0);
}

kw_status grad_stage_pointwise(kw_transaction *tx, kw_library *library)
{
    const grad_kernel kernels[] = {
        {MATH_ADD_NAME, math_add_unboxed(add)},    {MATH_MUL_NAME, math_mul_unboxed(mul)},
        {MATH_DIV_NAME, math_div_unboxed(div_)},   {MATH_SCALE_NAME, math_scale_unboxed(scale)},
        {MATH_RELU_NAME, math_relu_unboxed(relu)}, {MATH_EXP_NAME, math_exp_unboxed(exp_)},
        {MATH_LOG_NAME, math_log_unboxed(log_)},   {MATH_MATMUL_NAME, math_matmul_unboxed(matmul)},
    };
    return grad_stage(tx, library, KW_KEY_Autograd, kernels, sizeof kernels / sizeof *kernels);
}
