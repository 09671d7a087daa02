// Tensors: float32 tensors in the memory of the CPU, as the server and its built-in kernels use.
//
// Layer:   example (uses keyway/tensor.h)
// Threads: any
// SPDX-License-Identifier: MIT

#include "tensors.h"

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

const float *serve_tensor_values(const kw_tensor *tensor)
{
    return tensor != NULL ? kw_tensor_data(tensor) : NULL;
}
