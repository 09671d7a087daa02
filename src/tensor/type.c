// The reference tensor as a tensor type, and the figures of the whole layer.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/tensor.h>

#include "tensor/extra.h"
#include "tensor/slab.h"
#include "tensor/storage.h"

static kw_keyset keys_of(const void *tensor)
{
    return kw_tensor_keyset(tensor);
}

static void retain(void *tensor)
{
    kw_tensor_retain(tensor);
}

static void release(void *tensor)
{
    kw_tensor_release(tensor);
}

const kw_tensor_type *kw_tensor_reference_type(void)
{
    static const kw_tensor_type type = {
        .struct_size = sizeof type,
        .name = "kw_tensor",
        .version = KW_TENSOR_LAYOUT,
        .keys = keys_of,
        .retain = retain,
        .release = release,
        .keys_at = KW_KEYS_AT(kw_tensor, keys),
    };
    return &type;
}

void kw_tensor_statistics_get(kw_tensor_statistics *out_statistics)
{
    kw_tensor_statistics figures = {
        .struct_size = out_statistics->struct_size,
        .tensor_count = kwi_slab_count(),
        .tensor_bytes = kwi_slab_bytes(),
        .extra_count = kwi_extra_count(),
        .storage_count = kwi_storage_count(),
        .storage_bytes = kwi_storage_allocated_bytes(),
        .external_bytes = kwi_storage_external_bytes(),
    };
    size_t bytes = out_statistics->struct_size;
    memcpy(out_statistics, &figures, bytes < sizeof figures ? bytes : sizeof figures);
}
