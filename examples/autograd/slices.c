// Nodes about a view's place in its base: Note [Views and their base].
//
// Layer:     example (uses node, meta, fresh)
// Threads:   as node.h
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "slices.h"

#include <ops.h>

#include <keyway/tensor_view.h>

#include "fail.h"
#include "fresh.h"
#include "meta.h"

// Sizes, strides and offset describe the place in a gradient of the base too, if the base is
// contiguous as gradients are, and if no element is there twice.
static kw_status check_place(const kw_tensor *view, const kw_tensor *base)
{
    const int64_t *sizes = kw_tensor_sizes(view);
    const int64_t *strides = kw_tensor_strides(view);
    if (!kw_tensor_is_contiguous(base)) {
        return GRAD_FAIL(GRAD_REFUSED, "a view was changed in place whose base is not contiguous; "
                                       "clone the base first");
    }
    for (uint32_t i = 0; i < kw_tensor_dim(view); i++) {
        if (sizes[i] > 1 && strides[i] == 0) {
            return GRAD_FAIL(GRAD_REFUSED, "an expanded view, or what it shows, was changed in "
                                           "place; clone it first, or expand it again");
        }
    }
    return KW_OK;
}

static kw_status set_place(grad_node *node, kw_tensor *view, const kw_tensor *base)
{
    kw_error err = KW_ERROR_INIT;
    node->numbers[0] = kw_tensor_storage_offset(view) - kw_tensor_storage_offset(base);
    return grad_fail(kw_tensor_detach(view, &node->view, &err), &err);
}

// The node's place in a gradient of the base.
static kw_status slice_of(const grad_node *node, kw_tensor *whole, kw_tensor **out_slice)
{
    kw_error err = KW_ERROR_INIT;
    const size_t dim = kw_tensor_dim(node->view);
    const kw_int_list sizes = {kw_tensor_sizes(node->view), dim};
    const kw_int_list strides = {kw_tensor_strides(node->view), dim};
    return grad_fail(kw_tensor_as_strided(whole, sizes, strides, node->numbers[0], out_slice, &err),
                     &err);
}

static kw_status copy_into(const grad_node *node, kw_tensor *whole, const kw_tensor *part)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *slice = NULL;
    kw_status status = slice_of(node, whole, &slice);
    if (status == KW_OK) {
        status = grad_fail(kw_tensor_copy(slice, part, &err), &err);
    }
    kw_tensor_release(slice);
    return status;
}

// Reading: zero everywhere but at the view's place.
static kw_status read_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    const grad_edge *base = &node->edges[0];
    kw_status status = grad_fresh_full(base->sizes, base->dim, grad, 0, &out_grads[0]);
    return status == KW_OK ? copy_into(node, out_grads[0], grad) : status;
}

static const grad_formula read_formula = {"reading a view", read_backward};

kw_status grad_slices_read(kw_tensor *view, kw_tensor *base, grad_node **out_node)
{
    grad_node *node = NULL;
    const grad_meta *meta = grad_meta_of(base);
    const grad_input input = {base, meta != NULL ? meta->node : NULL};
    if (input.node == NULL) {
        *out_node = NULL;
        return KW_OK;
    }
    kw_status status = check_place(view, base);
    if (status == KW_OK) {
        status = grad_node_create(&read_formula, NULL, &input, 1, &node);
    }
    if (status == KW_OK) {
        status = set_place(node, view, base);
    }
    if (status != KW_OK) {
        grad_node_release(node);
        return status;
    }
    *out_node = node;
    return KW_OK;
}

// Writing: the gradient of what is there afterwards goes to what was there before, but at the
// view's place through the operator that changed it.
static kw_status write_backward(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *whole = NULL;
    kw_tensor *slice = NULL;
    kw_tensor *part = NULL;
    kw_status status = grad_fail(kw_tensor_clone(grad, KW_MEMORY_CONTIGUOUS, &whole, &err), &err);
    if (status == KW_OK) {
        status = slice_of(node, whole, &slice);
    }
    if (status == KW_OK) {
        status = grad_fail(kw_tensor_clone(slice, KW_MEMORY_CONTIGUOUS, &part, &err), &err);
    }
    if (status == KW_OK) {
        status = node->inner->formula->backward(node->inner, part, out_grads);
    }
    if (status == KW_OK && grad_node_wants(node, 0)) {
        if (out_grads[0] != NULL) {
            status = grad_fail(kw_tensor_copy(slice, out_grads[0], &err), &err);
        } else {
            kw_tensor *same = NULL;
            status = math_fill__call(slice, 0, &same);
            kw_tensor_release(same);
        }
        kw_tensor_release(out_grads[0]);
        kw_tensor_retain(whole);
        out_grads[0] = whole;
    }
    kw_tensor_release(part);
    kw_tensor_release(slice);
    kw_tensor_release(whole);
    return status;
}

static const grad_formula write_formula = {"writing a view", write_backward};

kw_status grad_slices_write(kw_tensor *view, kw_tensor *base, grad_node *take_inner,
                            const grad_input *inputs, grad_node **out_node)
{
    grad_node *node = NULL;
    const grad_meta *meta = grad_meta_of(base);
    grad_input around[GRAD_INPUTS_MAX] = {{base, meta != NULL ? meta->node : NULL}};
    for (uint32_t i = 1; i < take_inner->edge_count; i++) {
        around[i] = inputs[i];
    }
    kw_status status = check_place(view, base);
    if (status == KW_OK) {
        status = grad_node_create(&write_formula, NULL, around, take_inner->edge_count, &node);
    }
    if (status == KW_OK) {
        status = set_place(node, view, base);
    }
    if (status != KW_OK) {
        grad_node_release(node);
        return status;
    }
    node->inner = take_inner;
    *out_node = node;
    return KW_OK;
}
