// Nodes of the tape: making, saving, counting.
//
// Layer:     example (uses fail)
// Threads:   counts are atomic; the rest belongs to the thread that has the graph
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "node.h"

#include <string.h>

#include <keyway/allocator.h>
#include <keyway/call.h>
#include <keyway/tensor_view.h>

#include "fail.h"

// Numbers are given out in one order for all threads: whoever sees a node's output has seen its
// number taken, and gets a greater one. Relaxed, since the number is all that is exchanged.
static uint64_t next_sequence(void)
{
    static atomic_ullong last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

static grad_node *allocate(size_t bytes)
{
    grad_node *node = kw_memory_allocate(bytes);
    if (node != NULL) {
        atomic_init(&node->reference_count, 1);
        node->bytes = bytes;
        node->sequence = next_sequence();
    }
    return node;
}

grad_node *grad_node_create_leaf(void)
{
    return allocate(sizeof(grad_node));
}

static void connect(grad_node *node, const grad_input *inputs, uint32_t input_count)
{
    int64_t *sizes = (int64_t *)&node->edges[input_count];
    node->edge_count = input_count;
    for (uint32_t i = 0; i < input_count; i++) {
        grad_edge *edge = &node->edges[i];
        edge->node = grad_node_retain(inputs[i].node);
        edge->dim = kw_tensor_dim(inputs[i].tensor);
        edge->sizes = memcpy(sizes, kw_tensor_sizes(inputs[i].tensor), edge->dim * sizeof *sizes);
        sizes += edge->dim;
    }
}

kw_status grad_node_create(const grad_formula *formula, kw_library *library,
                           const grad_input *inputs, uint32_t input_count, grad_node **out_node)
{
    kw_error err = KW_ERROR_INIT;
    kw_lease *lease = NULL;
    size_t bytes = sizeof(grad_node) + input_count * sizeof(grad_edge);
    for (uint32_t i = 0; i < input_count; i++) {
        bytes += kw_tensor_dim(inputs[i].tensor) * sizeof(int64_t);
    }
    if (library != NULL) {
        kw_status status = kw_lease_begin(library, "tape node", &lease, &err);
        if (status != KW_OK) {
            return grad_fail(status, &err);
        }
    }
    grad_node *node = allocate(bytes);
    if (node == NULL) {
        kw_lease_end(lease);
        return GRAD_FAIL(KW_NO_MEMORY, "no memory for the tape node of %s", formula->op);
    }
    node->formula = formula;
    node->lease = lease;
    connect(node, inputs, input_count);
    *out_node = node;
    return KW_OK;
}

grad_node *grad_node_retain(grad_node *node)
{
    if (node != NULL) {
        // Relaxed: the caller has a reference, so the count is not about to be zero.
        atomic_fetch_add_explicit(&node->reference_count, 1, memory_order_relaxed);
    }
    return node;
}

// Gives a reference back; after the last one the node waits in a list for its end.
static void drop(grad_node *node, grad_node **dead_list)
{
    if (node != NULL && atomic_fetch_sub(&node->reference_count, 1) == 1) {
        node->next_dead = *dead_list;
        *dead_list = node;
    }
}

void grad_node_release(grad_node *node)
{
    grad_node *dead_list = NULL;
    drop(node, &dead_list);
    while (dead_list != NULL) {
        grad_node *dead = dead_list;
        dead_list = dead->next_dead;
        for (uint32_t i = 0; i < dead->edge_count; i++) {
            drop(dead->edges[i].node, &dead_list);
        }
        grad_node_free_saved(dead);
        drop(dead->inner, &dead_list);
        kw_tensor_release(dead->view);
        kw_tensor_release(dead->grad);
        kw_lease_end(dead->lease);
        kw_memory_free(dead, dead->bytes);
    }
}

kw_status grad_node_save(grad_node *node, uint32_t index, kw_tensor *tensor)
{
    kw_error err = KW_ERROR_INIT;
    if (kw_tensor_is_inference(tensor)) {
        return GRAD_FAIL(GRAD_REFUSED,
                         "%s would save an inference tensor for its gradient, whose changes nobody "
                         "counts; clone it outside of inference mode",
                         node->formula->op);
    }
    grad_saved *saved = &node->saved[index];
    kw_status status = kw_tensor_version(tensor, &saved->version, &err);
    if (status == KW_OK) {
        status = kw_tensor_detach(tensor, &saved->tensor, &err);
    }
    return grad_fail(status, &err);
}

static kw_status check_version(const grad_node *node, const grad_saved *saved)
{
    kw_error err = KW_ERROR_INIT;
    uint32_t found = 0;
    if (saved->tensor == NULL) {
        return KW_OK;
    }
    kw_status status = kw_tensor_version(saved->tensor, &found, &err);
    if (status == KW_OK && found != saved->version) {
        return GRAD_FAIL(
            GRAD_MODIFIED,
            "the gradient of %s needs a tensor as it was at version %u; it is at version "
            "%u, changed in place since",
            node->formula->op, saved->version, found);
    }
    return grad_fail(status, &err);
}

kw_status grad_node_check(const grad_node *node)
{
    if (node->is_freed) {
        return GRAD_FAIL(GRAD_FREED,
                         "the graph was gone back through already, and what %s has saved is freed; "
                         "retain it the first time",
                         node->formula->op);
    }
    for (const grad_node *each = node; each != NULL; each = each->inner) {
        for (uint32_t i = 0; i < GRAD_SAVED_MAX; i++) {
            kw_status status = check_version(each, &each->saved[i]);
            if (status != KW_OK) {
                return status;
            }
        }
    }
    return KW_OK;
}

void grad_node_free_saved(grad_node *node)
{
    for (grad_node *each = node; each != NULL; each = each->inner) {
        each->is_freed = true;
        for (uint32_t i = 0; i < GRAD_SAVED_MAX; i++) {
            kw_tensor_release(each->saved[i].tensor);
            each->saved[i].tensor = NULL;
        }
    }
}
