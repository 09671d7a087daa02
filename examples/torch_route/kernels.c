// What the kernels of the plugin share.
//
// Layer:   example
// Threads: any.
// SPDX-License-Identifier: MIT

#include "kernels.h"

void route_served(const kw_kernel *self)
{
    route_entry *entry = (route_entry *)self->user_data;
    atomic_fetch_add_explicit(&entry->served, 1, memory_order_relaxed);
}

kw_status route_decline(const kw_kernel *self, const kw_operator *op, kw_frame *frame)
{
    route_entry *entry = (route_entry *)self->user_data;
    atomic_fetch_add_explicit(&entry->declined, 1, memory_order_relaxed);
    return kw_redispatch_boxed(op, kw_keyset_from_key(KW_KEY_PrivateUse3), frame);
}

kw_tensor *route_tensor(const kw_frame *frame, uint32_t arg_index)
{
    return (kw_tensor *)frame->args[arg_index].as.as_tensor;
}

bool route_takes(const kw_tensor *tensor)
{
    return kw_tensor_dtype(tensor) == KW_DTYPE_FLOAT32 && kw_tensor_storage(tensor) != NULL &&
           kw_tensor_is_on(tensor, KW_DEVICE_CPU);
}

kw_status route_result(const int64_t *sizes, uint32_t dim, kw_tensor **out_tensor, float **out_data)
{
    kw_tensor_options options = {.struct_size = sizeof options,
                                 .sizes = sizes,
                                 .dim = dim,
                                 .dtype = KW_DTYPE_FLOAT32,
                                 .device = {KW_DEVICE_CPU, -1}};
    kw_error err = KW_ERROR_INIT;
    kw_tensor *tensor = NULL;
    void *data = NULL;
    kw_status status = kw_tensor_create(&options, &tensor, &err);
    if (status == KW_OK) {
        status = kw_tensor_mutable_data(tensor, &data, &err);
    }
    if (status != KW_OK) {
        kw_tensor_release(tensor);
        return kw_fail(status, "%s", err.text);
    }
    *out_tensor = tensor;
    *out_data = (float *)data;
    return KW_OK;
}
