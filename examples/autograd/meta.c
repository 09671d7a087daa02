// Metadata of a tensor, and what a program asks it.
//
// Layer:     example (uses node, slices)
// Threads:   as grad.h
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "meta.h"

#include <string.h>

#include <keyway/allocator.h>
#include <keyway/object.h>
#include <keyway/tensor_view.h>

#include "fail.h"
#include "slices.h"

#define META_TYPE "math::Meta"

static void meta_destroy(void *data)
{
    grad_meta *meta = data;
    grad_node_release(meta->node);
    kw_tensor_release(meta->base);
    kw_memory_free(meta, sizeof *meta);
}

grad_meta *grad_meta_of(const kw_tensor *tensor)
{
    const kw_object *object = kw_tensor_autograd(tensor);
    return object != NULL ? kw_object_data(object) : NULL;
}

kw_status grad_meta_ensure(kw_tensor *tensor, grad_meta **out_meta)
{
    kw_error err = KW_ERROR_INIT;
    grad_meta *meta = grad_meta_of(tensor);
    if (meta != NULL) {
        *out_meta = meta;
        return KW_OK;
    }
    meta = kw_memory_allocate(sizeof *meta);
    if (meta == NULL) {
        return GRAD_FAIL(KW_NO_MEMORY, "no memory for a tensor's place in the graph");
    }
    const kw_object_options options = {
        .struct_size = sizeof options,
        .type_name = META_TYPE,
        .data = meta,
        .destroy = meta_destroy,
    };
    kw_object *object = NULL;
    kw_status status = kw_object_create(&options, &object, &err);
    if (status != KW_OK) {
        kw_memory_free(meta, sizeof *meta);
        return grad_fail(status, &err);
    }
    status = kw_tensor_set_autograd(tensor, object, &err);
    kw_object_release(object);
    if (status == KW_OK) {
        *out_meta = meta;
    }
    return grad_fail(status, &err);
}

// Whether a view was changed in place since its node was made, by itself or through another one.
static kw_status check_stale(const kw_tensor *tensor, const grad_meta *meta, bool *out_stale)
{
    kw_error err = KW_ERROR_INIT;
    uint32_t version = 0;
    if (meta->base == NULL || !meta->is_recorded) {
        *out_stale = false;
        return KW_OK;
    }
    kw_status status = kw_tensor_version(tensor, &version, &err);
    *out_stale = version != meta->version;
    return grad_fail(status, &err);
}

kw_status grad_meta_edge(kw_tensor *tensor, grad_node **out_node)
{
    bool stale = false;
    const grad_meta *meta = grad_meta_of(tensor);
    if (meta == NULL) {
        *out_node = NULL;
        return KW_OK;
    }
    kw_status status = check_stale(tensor, meta, &stale);
    if (status != KW_OK) {
        return status;
    }
    if (stale) {
        return grad_slices_read(tensor, meta->base, out_node);
    }
    *out_node = grad_node_retain(meta->node);
    return KW_OK;
}

void grad_meta_set_node(grad_meta *meta, grad_node *take_node)
{
    grad_node *before = meta->node;
    meta->node = take_node;
    grad_node_release(before);
}

kw_status grad_meta_mark_view(kw_tensor *view, kw_tensor *base)
{
    kw_error err = KW_ERROR_INIT;
    grad_meta *meta = NULL;
    if (kw_tensor_is_inference(base)) {
        return KW_OK; // it has no version, and no gradient
    }
    kw_status status = grad_meta_ensure(view, &meta);
    if (status != KW_OK) {
        return status;
    }
    const grad_meta *outer = grad_meta_of(base);
    meta->base = outer != NULL && outer->base != NULL ? outer->base : base;
    kw_tensor_retain(meta->base);
    return grad_fail(kw_tensor_version(view, &meta->version, &err), &err);
}

// What a program asks ---------------------------------------------------------------------------

kw_status grad_require(kw_tensor *tensor)
{
    grad_meta *meta = NULL;
    if (kw_dtype_kind_of(kw_tensor_dtype(tensor)) != KW_DTYPE_KIND_FLOATING) {
        return GRAD_FAIL(GRAD_REFUSED, "a tensor of type %s has no gradient",
                         kw_dtype_name(kw_tensor_dtype(tensor)));
    }
    if (kw_tensor_is_inference(tensor)) {
        return GRAD_FAIL(GRAD_REFUSED, "an inference tensor has no gradient; clone it outside of "
                                       "inference mode");
    }
    kw_status status = grad_meta_ensure(tensor, &meta);
    if (status != KW_OK) {
        return status;
    }
    if (meta->base != NULL || !grad_is_leaf(tensor)) {
        return GRAD_FAIL(GRAD_REFUSED, "the tensor is a result or a view; detach it first");
    }
    if (meta->node != NULL) {
        return KW_OK;
    }
    meta->node = grad_node_create_leaf();
    return meta->node != NULL ? KW_OK : GRAD_FAIL(KW_NO_MEMORY, "no memory for a leaf's gradient");
}

bool grad_is_required(const kw_tensor *tensor)
{
    bool stale = false;
    const grad_meta *meta = grad_meta_of(tensor);
    if (meta == NULL || check_stale(tensor, meta, &stale) != KW_OK) {
        return false;
    }
    meta = stale ? grad_meta_of(meta->base) : meta;
    return meta != NULL && meta->node != NULL;
}

bool grad_is_leaf(const kw_tensor *tensor)
{
    const grad_meta *meta = grad_meta_of(tensor);
    return !grad_is_required(tensor) || (meta->base == NULL && grad_node_is_leaf(meta->node));
}

kw_tensor *grad_of(const kw_tensor *leaf)
{
    const grad_meta *meta = grad_meta_of(leaf);
    return meta != NULL && meta->node != NULL ? meta->node->grad : NULL;
}

void grad_clear(kw_tensor *leaf)
{
    const grad_meta *meta = grad_meta_of(leaf);
    if (meta != NULL && meta->node != NULL) {
        kw_tensor_release(meta->node->grad);
        meta->node->grad = NULL;
    }
}
