// Tensors: float32 tensors of the CPU, as the server and its built-in kernels use, and their way
// from and to other devices.
//
// Layer:   example (uses keyway/tensor.h)
// Threads: any
// SPDX-License-Identifier: MIT

#include "tensors.h"

#include <keyway/local.h>
#include <keyway/tensor_view.h>

kw_status serve_tensor_create(uint32_t dim, const int64_t *sizes, kw_tensor **out_tensor,
                              float **out_values, kw_error *err)
{
    const kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = sizes,
        .dim = dim,
        .dtype = KW_DTYPE_FLOAT32,
        .inference = KW_INFERENCE_ALWAYS,
        .device = {KW_DEVICE_CPU, -1},
    };
    kw_tensor *tensor = NULL;
    kw_status status = kw_tensor_create(&options, &tensor, err);
    if (status != KW_OK) {
        return status;
    }
    void *values = NULL;
    status = kw_tensor_mutable_data(tensor, &values, err);
    if (status != KW_OK) {
        kw_tensor_release(tensor);
        return status;
    }
    *out_tensor = tensor;
    *out_values = values;
    return KW_OK;
}

// The server's tensors are inference tensors, which are written in inference mode only.
static kw_status copy(kw_tensor *target, const kw_tensor *source, kw_error *err)
{
    kw_local_guard guard;
    kw_status status = kw_local_inference_mode(true, &guard);
    if (status != KW_OK) {
        return kw_error_set(err, status, "the thread could not be attached");
    }
    status = kw_tensor_copy(target, source, err);
    kw_local_restore(&guard);
    return status;
}

// A device copies one run of elements at a time. So what lies apart on the CPU is put together
// there before it goes.
static kw_status gather(kw_tensor *tensor, kw_tensor **out_source, kw_error *err)
{
    if (kw_tensor_is_on(tensor, KW_DEVICE_CPU)) {
        return kw_tensor_contiguous(tensor, KW_MEMORY_CONTIGUOUS, out_source, err);
    }
    kw_tensor_retain(tensor);
    *out_source = tensor;
    return KW_OK;
}

kw_status serve_tensor_move(kw_tensor *tensor, int32_t device_type, kw_tensor **out_tensor,
                            kw_error *err)
{
    if (kw_tensor_is_on(tensor, device_type) && kw_tensor_is_contiguous(tensor)) {
        kw_tensor_retain(tensor);
        *out_tensor = tensor;
        return KW_OK;
    }
    const kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = kw_tensor_sizes(tensor),
        .dim = kw_tensor_dim(tensor),
        .dtype = kw_tensor_dtype(tensor),
        .inference = KW_INFERENCE_ALWAYS,
        .device = {device_type, -1},
    };
    kw_tensor *source = NULL;
    kw_tensor *moved = NULL;
    kw_status status = gather(tensor, &source, err);
    if (status == KW_OK) {
        status = kw_tensor_create(&options, &moved, err);
    }
    if (status == KW_OK) {
        status = copy(moved, source, err);
    }
    kw_tensor_release(source);
    if (status != KW_OK) {
        kw_tensor_release(moved);
        return status;
    }
    *out_tensor = moved;
    return KW_OK;
}

const float *serve_tensor_values(const kw_tensor *tensor)
{
    return tensor != NULL ? kw_tensor_data(tensor) : NULL;
}
