// The layers of the example, and the libraries that register them.
//
// Layer:     example (uses ops and the kernels' files)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "layers.h"

#include <ops.h>

#include <keyway/tensor.h>

typedef kw_status (*stage_function)(kw_transaction *tx, kw_library *library);

kw_status grad_stage(kw_transaction *tx, kw_library *library, kw_key key,
                     const grad_kernel *kernels, size_t kernel_count)
{
    for (size_t i = 0; i < kernel_count; i++) {
        kw_kernel_descriptor descriptor = kernels[i].descriptor;
        descriptor.user_data = library;
        kw_status status =
            kw_transaction_impl(tx, library, kernels[i].op, key, &descriptor, NULL, NULL);
        if (status != KW_OK) {
            return status;
        }
    }
    return KW_OK;
}

static kw_status stage_definitions(kw_transaction *tx, kw_library *library)
{
    return ops_define(tx, library, NULL);
}

static kw_status commit(kw_library *library, const stage_function *stages, size_t stage_count,
                        kw_error *err)
{
    kw_transaction *tx = NULL;
    kw_status status = kw_transaction_begin(kw_dispatcher_default(), &tx, err);
    for (size_t i = 0; i < stage_count && status == KW_OK; i++) {
        status = stages[i](tx, library);
        if (status != KW_OK) {
            *err = *kw_transaction_error(tx);
            kw_transaction_abort(tx);
            return status;
        }
    }
    return status == KW_OK ? kw_transaction_commit(tx, NULL, NULL, err) : status;
}

static kw_status open_library(const char *name, const stage_function *stages, size_t stage_count,
                              kw_library **out_library, kw_error *err)
{
    kw_library *library = NULL;
    const kw_library_options options = {
        .struct_size = sizeof options,
        .name = name,
        .tensor_type = kw_tensor_reference_type(),
    };
    kw_status status = kw_library_create(&options, &library, err);
    if (status != KW_OK) {
        return status;
    }
    status = commit(library, stages, stage_count, err);
    if (status != KW_OK) {
        (void)grad_library_end(library, NULL);
        return status;
    }
    *out_library = library;
    return KW_OK;
}

kw_status grad_cpu_open(kw_library **out_library, kw_error *err)
{
    static const stage_function stages[] = {grad_stage_cpu};
    return open_library("math_cpu", stages, sizeof stages / sizeof *stages, out_library, err);
}

kw_status grad_autograd_open(kw_library **out_library, kw_error *err)
{
    static const stage_function stages[] = {grad_stage_pointwise, grad_stage_shapes,
                                            grad_stage_in_place, grad_stage_marks};
    return open_library("math_autograd", stages, sizeof stages / sizeof *stages, out_library, err);
}

static kw_status operators_open(kw_library **out_library, kw_error *err)
{
    static const stage_function stages[] = {stage_definitions, grad_stage_composites};
    return open_library("math", stages, sizeof stages / sizeof *stages, out_library, err);
}

kw_status grad_layers_open(grad_layers *out_layers, kw_error *err)
{
    grad_layers layers = {NULL, NULL, NULL};
    kw_status status = operators_open(&layers.operators, err);
    if (status == KW_OK) {
        status = grad_cpu_open(&layers.cpu, err);
    }
    if (status == KW_OK) {
        status = grad_autograd_open(&layers.autograd, err);
    }
    if (status != KW_OK) {
        (void)grad_layers_close(&layers, NULL);
        return status;
    }
    *out_layers = layers;
    return KW_OK;
}

kw_status grad_library_end(kw_library *library, kw_error *err)
{
    if (library == NULL) {
        return KW_OK;
    }
    kw_status status = kw_library_close(library, err);
    if (status == KW_OK) {
        status = kw_library_drain(library, 0, err);
    }
    return status == KW_OK ? kw_library_destroy(library, err) : status;
}

kw_status grad_layers_close(grad_layers *layers, kw_error *err)
{
    kw_library **const libraries[] = {&layers->autograd, &layers->cpu, &layers->operators};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        kw_status status = grad_library_end(*libraries[i], err);
        if (status != KW_OK) {
            return status;
        }
        *libraries[i] = NULL;
    }
    return KW_OK;
}
