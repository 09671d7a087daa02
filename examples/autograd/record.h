// Recording: what the kernels of the autograd layer have in common.
//
// Layer:     example (uses node, meta)
// Threads:   a record is its kernel's own
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// A kernel says which formula its node has, saves what that needs, goes on below the layer, and
// ends the record with what came back:
//
//     grad_record record = grad_record_begin(self, &exp_formula, x, NULL);
//     grad_record_save(&record, 0, x);
//     if (grad_record_enter(&record)) {
//         record.status = math_exp_redispatch_on(self->op, grad_below(keys), x, &record.out);
//     }
//     return grad_record_end(&record, out_0);
//
// Statuses stick: after a failure the rest does nothing. Without an input that wants a gradient
// there is no node, and a record is little more than the redispatch.

#ifndef GRAD_RECORD_H
#define GRAD_RECORD_H

#include <stdbool.h>

#include <keyway/kernel.h>
#include <keyway/keyset.h>
#include <keyway/local.h>
#include <keyway/status.h>
#include <keyway/tensor.h>

#include "node.h"

typedef struct grad_record {
    kw_status status;
    bool is_below; // `guard` is to be restored
    kw_local_guard guard;
    uint32_t input_count;
    kw_tensor *inputs[GRAD_INPUTS_MAX];
    grad_node *node;      // NULL: no input wants a gradient
    grad_node *base_node; // in place on a view: the base's node to be, which holds `node`
    kw_tensor *out;       // what the kernel below returned
} grad_record;

// What is left of a call's keys below the layer.
static inline kw_keyset grad_below(kw_keyset keys)
{
    return kw_keyset_intersection(keys, kw_keyset_after_autograd());
}

/// Begins a record, for an operator with one or two tensors. `self->user_data` is the kernel's
/// library. The second form is for operators that change `x`.
grad_record grad_record_begin(const kw_kernel *self, const grad_formula *formula, kw_tensor *a,
                              kw_tensor *b);
grad_record grad_record_begin_in_place(const kw_kernel *self, const grad_formula *formula,
                                       kw_tensor *x, kw_tensor *y);

/// Whether the gradient of an input will be asked for: if not, what only it needs is not saved.
static inline bool grad_record_wants(const grad_record *record, uint32_t input_index)
{
    return record->node != NULL && grad_node_wants(record->node, input_index);
}

/// Saves a tensor, or a copy of it, if there is a node.
void grad_record_save(grad_record *record, uint32_t saved_index, kw_tensor *tensor);
void grad_record_save_copy(grad_record *record, uint32_t saved_index, kw_tensor *tensor);

/// Begins the part below the layer: operators that the kernels there call are not recorded. False:
/// something has failed.
bool grad_record_enter(grad_record *record);

/// Ends a record: gives the output its node, and hands it on. `grad_record_end_saving` also saves
/// the output, as number 0; `grad_record_end_in_place` gives the changed tensor its node.
kw_status grad_record_end(grad_record *record, kw_tensor **out_0);
kw_status grad_record_end_saving(grad_record *record, kw_tensor **out_0);
kw_status grad_record_end_in_place(grad_record *record, kw_tensor **out_0);

#endif // GRAD_RECORD_H
