// The way back: gradients from a result to the leaves it was made of.
//
// Layer:     example (uses node, meta, fresh, ops)
// Threads:   as grad.h
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// Note [Newest node first]
//
// An edge leads to a node with a smaller number. So of all nodes that wait with a part of their
// gradient, the one with the greatest number has got all of it. A heap finds it; no node has to be
// visited beforehand or marked, and a chain may be of any length. What leaves get is put aside
// until all nodes have been run: a pass that fails changes no gradient.

#include <ops.h>
#include <pthread.h>
#include <stdlib.h>

#include <keyway/allocator.h>
#include <keyway/call.h>
#include <keyway/local.h>
#include <keyway/tensor_view.h>

#include "fail.h"
#include "fresh.h"
#include "meta.h"

// A part of the gradient of a node's output.
typedef struct part {
    grad_node *node;  // borrowed: the result has its whole graph
    kw_tensor *grad;  // owned
    uint64_t arrival; // so that sums are made in one order, and are the same every time
} part;

typedef struct part_list {
    part *items;
    size_t count;
    size_t capacity;
} part_list;

typedef struct backward_pass {
    part_list heap;   // the newest node's first
    part_list leaves; // whole gradients
    uint64_t arrivals;
    bool retain;
} backward_pass;

// One lock for the gradients of all leaves: a pass adds to all of its leaves or to none.
static pthread_mutex_t leaf_lock = PTHREAD_MUTEX_INITIALIZER;

// Lists and the heap --------------------------------------------------------------------------

static kw_status list_add(part_list *list, part item)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity != 0 ? 2 * list->capacity : 16;
        part *items = kw_memory_reallocate(list->items, list->capacity * sizeof(part),
                                           capacity * sizeof(part));
        if (items == NULL) {
            return GRAD_FAIL(KW_NO_MEMORY, "no memory for a gradient that waits");
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return KW_OK;
}

static void list_end(part_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        kw_tensor_release(list->items[i].grad);
    }
    kw_memory_free(list->items, list->capacity * sizeof(part));
}

static bool is_before(const part *a, const part *b)
{
    return a->node != b->node ? a->node->sequence > b->node->sequence : a->arrival < b->arrival;
}

static void swap(part *a, part *b)
{
    part other = *a;
    *a = *b;
    *b = other;
}

// Owns `take_grad` on success.
static kw_status heap_push(backward_pass *pass, grad_node *node, kw_tensor *take_grad)
{
    part_list *heap = &pass->heap;
    kw_status status = list_add(heap, (part){node, take_grad, pass->arrivals++});
    if (status != KW_OK) {
        return status;
    }
    for (size_t i = heap->count - 1;
         i != 0 && is_before(&heap->items[i], &heap->items[(i - 1) / 2]); i = (i - 1) / 2) {
        swap(&heap->items[i], &heap->items[(i - 1) / 2]);
    }
    return KW_OK;
}

static part heap_pop(part_list *heap)
{
    part first = heap->items[0];
    heap->items[0] = heap->items[--heap->count];
    for (size_t i = 0;;) {
        size_t next = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < heap->count; child++) {
            next = is_before(&heap->items[child], &heap->items[next]) ? child : next;
        }
        if (next == i) {
            return first;
        }
        swap(&heap->items[i], &heap->items[next]);
        i = next;
    }
}

// Adding up ------------------------------------------------------------------------------------

// What was broadcast on the way forward is added up on the way back.
static kw_status sum_to(const grad_edge *edge, kw_tensor **in_out_grad)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *grad = *in_out_grad;
    const int64_t *sizes = kw_tensor_sizes(grad);
    const uint32_t added = kw_tensor_dim(grad) - edge->dim;
    int64_t dims[KW_TENSOR_DIM_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < kw_tensor_dim(grad); i++) {
        if (i < added || edge->sizes[i - added] != sizes[i]) {
            dims[count++] = i;
        }
    }
    if (count == 0) {
        return KW_OK;
    }
    const kw_int_list list = {dims, count};
    kw_tensor *sum = NULL;
    kw_tensor *shaped = NULL;
    kw_status status = math_sum_call(grad, &list, true, &sum);
    if (status == KW_OK) {
        const kw_int_list input_sizes = {edge->sizes, edge->dim};
        status = grad_fail(kw_tensor_view(sum, input_sizes, &shaped, &err), &err);
    }
    kw_tensor_release(sum);
    if (status == KW_OK) {
        kw_tensor_release(grad);
        *in_out_grad = shaped;
    }
    return status;
}

// Takes all parts of the newest node, as one. On failure `out_whole->grad` may hold a part.
static kw_status heap_pop_whole(backward_pass *pass, part *out_whole)
{
    kw_status status = KW_OK;
    *out_whole = heap_pop(&pass->heap);
    while (status == KW_OK && pass->heap.count != 0 &&
           pass->heap.items[0].node == out_whole->node) {
        part next = heap_pop(&pass->heap);
        kw_tensor *sum = NULL;
        status = math_add_call(out_whole->grad, next.grad, MATH_ADD_ALPHA_DEFAULT, &sum);
        kw_tensor_release(next.grad);
        if (status == KW_OK) {
            kw_tensor_release(out_whole->grad);
            out_whole->grad = sum;
        }
    }
    return status;
}

// Going back -----------------------------------------------------------------------------------

static kw_status spread(backward_pass *pass, const grad_node *node, kw_tensor **grads)
{
    for (uint32_t i = 0; i < node->edge_count; i++) {
        if (grads[i] == NULL || !grad_node_wants(node, i)) {
            continue;
        }
        kw_status status = sum_to(&node->edges[i], &grads[i]);
        if (status == KW_OK) {
            status = heap_push(pass, node->edges[i].node, grads[i]);
        }
        if (status != KW_OK) {
            return status;
        }
        grads[i] = NULL;
    }
    return KW_OK;
}

static kw_status run_node(backward_pass *pass, grad_node *node, kw_tensor *grad)
{
    kw_tensor *grads[GRAD_INPUTS_MAX] = {NULL};
    kw_status status = grad_node_check(node);
    if (status == KW_OK) {
        status = node->formula->backward(node, grad, grads);
    }
    if (status == KW_OK) {
        status = spread(pass, node, grads);
    }
    for (uint32_t i = 0; i < GRAD_INPUTS_MAX; i++) {
        kw_tensor_release(grads[i]);
    }
    if (status == KW_OK && !pass->retain) {
        grad_node_free_saved(node);
    }
    return status;
}

static kw_status run(backward_pass *pass)
{
    while (pass->heap.count != 0) {
        part whole;
        kw_status status = heap_pop_whole(pass, &whole);
        if (status == KW_OK && grad_node_is_leaf(whole.node)) {
            status = list_add(&pass->leaves, whole);
            whole.grad = status == KW_OK ? NULL : whole.grad;
        } else if (status == KW_OK) {
            status = run_node(pass, whole.node, whole.grad);
        }
        kw_tensor_release(whole.grad);
        if (status != KW_OK) {
            return status;
        }
    }
    return KW_OK;
}

// The leaves -----------------------------------------------------------------------------------

// What the leaf's gradient will be, in memory that nobody else has.
static kw_status add_up(part *leaf)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *grad = leaf->grad;
    kw_tensor *sum = NULL;
    kw_status status = KW_OK;
    if (leaf->node->grad != NULL) {
        status = math_add_call(leaf->node->grad, grad, MATH_ADD_ALPHA_DEFAULT, &sum);
    } else if (kw_tensor_use_count(grad) == 1 &&
               kw_storage_use_count(kw_tensor_storage(grad)) == 1 &&
               kw_tensor_is_contiguous_as(grad, KW_MEMORY_CONTIGUOUS)) {
        return KW_OK;
    } else {
        status = grad_fail(kw_tensor_clone(grad, KW_MEMORY_CONTIGUOUS, &sum, &err), &err);
    }
    if (status == KW_OK) {
        kw_tensor_release(grad);
        leaf->grad = sum;
    }
    return status;
}

static kw_status finish(backward_pass *pass)
{
    kw_status status = KW_OK;
    (void)pthread_mutex_lock(&leaf_lock);
    for (size_t i = 0; i < pass->leaves.count && status == KW_OK; i++) {
        status = add_up(&pass->leaves.items[i]);
    }
    for (size_t i = 0; i < pass->leaves.count && status == KW_OK; i++) {
        part *leaf = &pass->leaves.items[i];
        kw_tensor *before = leaf->node->grad;
        leaf->node->grad = leaf->grad;
        leaf->grad = before;
    }
    (void)pthread_mutex_unlock(&leaf_lock);
    return status;
}

// Beginning ------------------------------------------------------------------------------------

static kw_status check_seed(const kw_tensor *result, const kw_tensor *seed)
{
    if (seed == NULL) {
        return kw_tensor_numel(result) == 1
                   ? KW_OK
                   : GRAD_FAIL(GRAD_REFUSED,
                               "the result has %lld elements; give a seed of its shape",
                               (long long)kw_tensor_numel(result));
    }
    bool same = kw_tensor_dim(seed) == kw_tensor_dim(result) &&
                kw_tensor_dtype(seed) == kw_tensor_dtype(result);
    for (uint32_t i = 0; same && i < kw_tensor_dim(seed); i++) {
        same = kw_tensor_sizes(seed)[i] == kw_tensor_sizes(result)[i];
    }
    return same ? KW_OK : GRAD_FAIL(GRAD_REFUSED, "the seed has not the result's shape and type");
}

static kw_status begin(backward_pass *pass, grad_node *node, const kw_tensor *result,
                       kw_tensor *seed)
{
    kw_tensor *one = seed;
    kw_status status = check_seed(result, seed);
    if (status == KW_OK && seed == NULL) {
        status = grad_fresh_full(kw_tensor_sizes(result), kw_tensor_dim(result), result, 1, &one);
    } else {
        kw_tensor_retain(one);
    }
    if (status == KW_OK) {
        status = heap_push(pass, node, one);
    }
    if (status != KW_OK) {
        kw_tensor_release(one);
    }
    return status;
}

// Nothing in a pass is recorded, and no view of it marked.
static kw_status go_back(grad_node *node, const kw_tensor *result, kw_tensor *seed, bool retain)
{
    backward_pass pass = {.retain = retain};
    kw_local_guard guard;
    kw_status status = kw_local_below_view(&guard);
    if (status != KW_OK) {
        return GRAD_FAIL(status, "no memory to attach the thread");
    }
    status = begin(&pass, node, result, seed);
    if (status == KW_OK) {
        status = run(&pass);
    }
    if (status == KW_OK) {
        status = finish(&pass);
    }
    list_end(&pass.heap);
    list_end(&pass.leaves);
    kw_local_restore(&guard);
    return status;
}

kw_status grad_backward(kw_tensor *result, kw_tensor *seed, bool retain)
{
    grad_node *node = NULL;
    if (!kw_local_is_included(KW_KEY_ADInplaceOrView)) {
        return GRAD_FAIL(GRAD_REFUSED,
                         "gradients would be inference tensors: leave inference mode");
    }
    kw_status status = grad_meta_edge(result, &node);
    if (status == KW_OK && node == NULL) {
        status = GRAD_FAIL(GRAD_REFUSED, "nothing was recorded that leads to this result: no input "
                                         "of it required a gradient");
    }
    if (status == KW_OK) {
        status = go_back(node, result, seed, retain);
    }
    grad_node_release(node);
    return status;
}
