// Recording: what the kernels of the autograd layer have in common.
//
// Layer:     example (uses node, meta, slices)
// Threads:   a record is its kernel's own
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "record.h"

#include <keyway/call.h>
#include <keyway/tensor_view.h>

#include "fail.h"
#include "meta.h"
#include "slices.h"

// Makes the node, if an input wants a gradient.
static void make_node(grad_record *record, const kw_kernel *self, const grad_formula *formula,
                      grad_input *inputs)
{
    bool wanted = false;
    for (uint32_t i = 0; i < record->input_count && record->status == KW_OK; i++) {
        inputs[i].tensor = record->inputs[i];
        record->status = grad_meta_edge(record->inputs[i], &inputs[i].node);
        wanted = wanted || inputs[i].node != NULL;
    }
    if (record->status == KW_OK && wanted) {
        record->status =
            grad_node_create(formula, self->user_data, inputs, record->input_count, &record->node);
    }
}

grad_record grad_record_begin(const kw_kernel *self, const grad_formula *formula, kw_tensor *a,
                              kw_tensor *b)
{
    grad_record record = {.inputs = {a, b}, .input_count = b != NULL ? 2 : 1};
    grad_input inputs[GRAD_INPUTS_MAX] = {{NULL, NULL}};
    make_node(&record, self, formula, inputs);
    for (uint32_t i = 0; i < GRAD_INPUTS_MAX; i++) {
        grad_node_release(inputs[i].node);
    }
    return record;
}

// In place -------------------------------------------------------------------------------------

// What changes in place is made of other things afterwards; nothing may then still stand for what
// it was. This is looked at also where no input wants a gradient: the base may.
static kw_status check_change(const grad_record *record, const char *op)
{
    const grad_meta *meta = grad_meta_of(record->inputs[0]);
    const bool is_view = meta != NULL && meta->base != NULL;
    const kw_tensor *base = is_view ? meta->base : record->inputs[0];
    const bool is_base_required = grad_is_required(base);
    if (is_base_required && grad_is_leaf(base)) {
        return GRAD_FAIL(GRAD_REFUSED,
                         "%s would change a leaf in place that a gradient is wanted for; do that "
                         "below autograd, or to a clone",
                         op);
    }
    if (is_view && !meta->is_recorded && (is_base_required || record->node != NULL)) {
        return GRAD_FAIL(GRAD_REFUSED,
                         "%s would change a view in place that was made while nothing was "
                         "recorded; make it again",
                         op);
    }
    return KW_OK;
}

// Makes everything that the end needs, so that it cannot fail.
static kw_status prepare_change(grad_record *record, const grad_input *inputs)
{
    grad_meta *meta = grad_meta_of(record->inputs[0]);
    if (meta == NULL || meta->base == NULL) {
        return grad_meta_ensure(record->inputs[0], &meta);
    }
    kw_status status =
        grad_slices_write(record->inputs[0], meta->base, record->node, inputs, &record->base_node);
    return status == KW_OK ? grad_meta_ensure(meta->base, &meta) : status;
}

grad_record grad_record_begin_in_place(const kw_kernel *self, const grad_formula *formula,
                                       kw_tensor *x, kw_tensor *y)
{
    grad_record record = {.inputs = {x, y}, .input_count = y != NULL ? 2 : 1};
    grad_input inputs[GRAD_INPUTS_MAX] = {{NULL, NULL}};
    make_node(&record, self, formula, inputs);
    if (record.status == KW_OK) {
        record.status = check_change(&record, formula->op);
    }
    if (record.status == KW_OK && record.node != NULL) {
        record.status = prepare_change(&record, inputs);
    }
    for (uint32_t i = 0; i < GRAD_INPUTS_MAX; i++) {
        grad_node_release(inputs[i].node);
    }
    return record;
}

// Saving and going on --------------------------------------------------------------------------

void grad_record_save(grad_record *record, uint32_t saved_index, kw_tensor *tensor)
{
    if (record->node != NULL && record->status == KW_OK) {
        record->status = grad_node_save(record->node, saved_index, tensor);
    }
}

void grad_record_save_copy(grad_record *record, uint32_t saved_index, kw_tensor *tensor)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *copy = NULL;
    if (record->node == NULL || record->status != KW_OK) {
        return;
    }
    record->status = grad_fail(kw_tensor_clone(tensor, KW_MEMORY_CONTIGUOUS, &copy, &err), &err);
    grad_record_save(record, saved_index, copy);
    kw_tensor_release(copy);
}

bool grad_record_enter(grad_record *record)
{
    if (record->status == KW_OK) {
        record->status = kw_local_below_autograd(&record->guard);
        record->is_below = record->status == KW_OK;
    }
    return record->is_below;
}

// The end --------------------------------------------------------------------------------------

static void leave(grad_record *record)
{
    if (record->is_below) {
        kw_local_restore(&record->guard);
    }
}

// The node that holds the other one, if there are two.
static grad_node *outer_node(const grad_record *record)
{
    return record->base_node != NULL ? record->base_node : record->node;
}

static kw_status hand_on(grad_record *record, kw_tensor **out_0)
{
    if (record->status == KW_OK) {
        *out_0 = record->out;
    } else {
        kw_tensor_release(record->out);
        grad_node_release(outer_node(record));
    }
    return record->status;
}

kw_status grad_record_end(grad_record *record, kw_tensor **out_0)
{
    grad_meta *meta = NULL;
    leave(record);
    if (record->node != NULL && record->status == KW_OK) {
        record->status = grad_meta_ensure(record->out, &meta);
    }
    if (meta != NULL) {
        grad_meta_set_node(meta, record->node);
    }
    // A view has metadata also if no gradient is wanted, so that a later change reaches the base.
    meta = record->status == KW_OK ? grad_meta_of(record->out) : NULL;
    if (meta != NULL) {
        meta->is_recorded = true;
    }
    return hand_on(record, out_0);
}

kw_status grad_record_end_saving(grad_record *record, kw_tensor **out_0)
{
    grad_record_save(record, 0, record->out);
    return grad_record_end(record, out_0);
}

kw_status grad_record_end_in_place(grad_record *record, kw_tensor **out_0)
{
    leave(record);
    if (record->status == KW_OK && record->node != NULL) {
        const grad_meta *meta = grad_meta_of(record->inputs[0]);
        kw_tensor *changed = meta->base != NULL ? meta->base : record->inputs[0];
        grad_meta_set_node(grad_meta_of(changed), outer_node(record));
    }
    return hand_on(record, out_0);
}
