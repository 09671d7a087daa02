// The autograd layer: sums, copies and views.
//
// Layer:     example (uses record, fresh)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <ops.h>

#include <keyway/call.h>
#include <keyway/tensor_view.h>

#include "fail.h"
#include "fresh.h"
#include "layers.h"
#include "record.h"

static kw_int_list input_sizes(const grad_node *node)
{
    const grad_edge *input = &node->edges[0];
    return (kw_int_list){input->sizes, input->dim};
}

// sum and mean: every element gets the gradient of what it went into ----------------------------

// `numbers[0]` has a bit for each dimension that was summed up.
static kw_status sum_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    const kw_int_list sizes = input_sizes(node);
    int64_t kept[KW_TENSOR_DIM_MAX];
    kw_tensor *shaped = NULL;
    for (size_t i = 0; i < sizes.count; i++) {
        kept[i] = ((uint64_t)node->numbers[0] >> i & 1) != 0 ? 1 : sizes.data[i];
    }
    kw_status status = math_reshape_call(grad, (kw_int_list){kept, sizes.count}, &shaped);
    if (status == KW_OK) {
        status = math_expand_call(shaped, sizes, &out_grads[0]);
    }
    kw_tensor_release(shaped);
    return status;
}

static const grad_formula sum_formula = {MATH_SUM_NAME, sum_backward};

static uint64_t dim_bits(const kw_tensor *x, const kw_int_list *dims)
{
    uint64_t bits = dims == NULL ? UINT64_MAX : 0;
    for (size_t i = 0; dims != NULL && i < dims->count; i++) {
        int64_t dim = dims->data[i] < 0 ? dims->data[i] + kw_tensor_dim(x) : dims->data[i];
        bits |= UINT64_C(1) << (dim & (KW_TENSOR_DIM_MAX - 1));
    }
    return bits;
}

static kw_status sum(const kw_kernel *self, kw_keyset keys, kw_tensor *x, const kw_int_list *dim,
                     bool keepdim, kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &sum_formula, x, NULL);
    if (record.node != NULL) {
        record.node->numbers[0] = (int64_t)dim_bits(x, dim);
    }
    if (grad_record_enter(&record)) {
        record.status =
            math_sum_redispatch_on(self->op, grad_below(keys), x, dim, keepdim, &record.out);
    }
    return grad_record_end(&record, out_0);
}

static kw_status mean_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    kw_tensor *share = NULL;
    kw_status status = math_scale_call(grad, node->factor, &share);
    if (status == KW_OK) {
        status = math_expand_call(share, input_sizes(node), &out_grads[0]);
    }
    kw_tensor_release(share);
    return status;
}

static const grad_formula mean_formula = {MATH_MEAN_NAME, mean_backward};

static kw_status mean(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &mean_formula, x, NULL);
    if (record.node != NULL) {
        record.node->factor = 1 / (double)kw_tensor_numel(x);
    }
    if (grad_record_enter(&record)) {
        record.status = math_mean_redispatch_on(self->op, grad_below(keys), x, &record.out);
    }
    return grad_record_end(&record, out_0);
}

// clone and expand: the gradient as it is. What was expanded is added up by whoever asked. --------

static kw_status same_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    (void)node;
    kw_tensor_retain(grad);
    out_grads[0] = grad;
    return KW_OK;
}

static const grad_formula clone_formula = {MATH_CLONE_NAME, same_backward};
static const grad_formula expand_formula = {MATH_EXPAND_NAME, same_backward};

static kw_status clone_(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &clone_formula, x, NULL);
    if (grad_record_enter(&record)) {
        record.status = math_clone_redispatch_on(self->op, grad_below(keys), x, &record.out);
    }
    return grad_record_end(&record, out_0);
}

static kw_status expand(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_int_list sizes,
                        kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &expand_formula, x, NULL);
    if (grad_record_enter(&record)) {
        record.status =
            math_expand_redispatch_on(self->op, grad_below(keys), x, sizes, &record.out);
    }
    return grad_record_end(&record, out_0);
}

// transpose and view: the gradient with its shape changed back -----------------------------------

static kw_status transpose_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    return math_transpose_call(grad, node->numbers[0], node->numbers[1], &out_grads[0]);
}

static const grad_formula transpose_formula = {MATH_TRANSPOSE_NAME, transpose_backward};

static kw_status transpose(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t dim_0,
                           int64_t dim_1, kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &transpose_formula, x, NULL);
    if (record.node != NULL) {
        record.node->numbers[0] = dim_0;
        record.node->numbers[1] = dim_1;
    }
    if (grad_record_enter(&record)) {
        record.status =
            math_transpose_redispatch_on(self->op, grad_below(keys), x, dim_0, dim_1, &record.out);
    }
    return grad_record_end(&record, out_0);
}

static kw_status view_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    return math_reshape_call(grad, input_sizes(node), &out_grads[0]);
}

static const grad_formula view_formula = {MATH_VIEW_NAME, view_backward};

static kw_status view(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_int_list sizes,
                      kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &view_formula, x, NULL);
    if (grad_record_enter(&record)) {
        record.status = math_view_redispatch_on(self->op, grad_below(keys), x, sizes, &record.out);
    }
    return grad_record_end(&record, out_0);
}

// select and slice: zero everywhere but where the output came from --------------------------------

typedef kw_status (*part_function)(const grad_node *node, kw_tensor *whole, kw_tensor **out_part);

static kw_status fill_in(const grad_node *node, kw_tensor *grad, part_function part_of,
                         kw_tensor **out_grad)
{
    kw_error err = KW_ERROR_INIT;
    const kw_int_list sizes = input_sizes(node);
    kw_tensor *part = NULL;
    kw_status status = grad_fresh_full(sizes.data, (uint32_t)sizes.count, grad, 0, out_grad);
    if (status == KW_OK) {
        status = part_of(node, *out_grad, &part);
    }
    if (status == KW_OK) {
        status = grad_fail(kw_tensor_copy(part, grad, &err), &err);
    }
    kw_tensor_release(part);
    return status;
}

static kw_status selected(const grad_node *node, kw_tensor *whole, kw_tensor **out_part)
{
    return math_select_call(whole, node->numbers[0], node->numbers[1], out_part);
}

static kw_status select_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    return fill_in(node, grad, selected, &out_grads[0]);
}

static const grad_formula select_formula = {MATH_SELECT_NAME, select_backward};

static kw_status select_(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t dim,
                         int64_t index, kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &select_formula, x, NULL);
    if (record.node != NULL) {
        record.node->numbers[0] = dim;
        record.node->numbers[1] = index;
    }
    if (grad_record_enter(&record)) {
        record.status =
            math_select_redispatch_on(self->op, grad_below(keys), x, dim, index, &record.out);
    }
    return grad_record_end(&record, out_0);
}

static kw_status sliced(const grad_node *node, kw_tensor *whole, kw_tensor **out_part)
{
    return math_slice_call(whole, node->numbers[0], node->numbers[1], node->numbers[2], out_part);
}

static kw_status slice_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    return fill_in(node, grad, sliced, &out_grads[0]);
}

static const grad_formula slice_formula = {MATH_SLICE_NAME, slice_backward};

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status slice(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t dim,
                       int64_t start, int64_t end, kw_tensor **out_0)
{
    grad_record record = grad_record_begin(self, &slice_formula, x, NULL);
    if (record.node != NULL) {
        record.node->numbers[0] = dim;
        record.node->numbers[1] = start;
        record.node->numbers[2] = end;
    }
    if (grad_record_enter(&record)) {
        record.status =
            math_slice_redispatch_on(self->op, grad_below(keys), x, dim, start, end, &record.out);
    }
    return grad_record_end(&record, out_0);
}

kw_status grad_stage_shapes(kw_transaction *tx, kw_library *library)
{
    const grad_kernel kernels[] = {
        {MATH_SUM_NAME, math_sum_unboxed(sum)},
        {MATH_MEAN_NAME, math_mean_unboxed(mean)},
        {MATH_CLONE_NAME, math_clone_unboxed(clone_)},
        {MATH_EXPAND_NAME, math_expand_unboxed(expand)},
        {MATH_TRANSPOSE_NAME, math_transpose_unboxed(transpose)},
        {MATH_VIEW_NAME, math_view_unboxed(view)},
        {MATH_SELECT_NAME, math_select_unboxed(select_)},
        {MATH_SLICE_NAME, math_slice_unboxed(slice)},
    };
    return grad_stage(tx, library, KW_KEY_Autograd, kernels, sizeof kernels / sizeof *kernels);
}
