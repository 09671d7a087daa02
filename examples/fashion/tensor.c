// Tensor: the demo's own tensor, which Keyway sees through a kw_tensor_type.
//
// Layer:     example (uses Keyway's public headers)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "tensor.h"

#include <stdlib.h>

static const kw_keyset cpu_keys =
    KW_KEYSET_INIT(KW_KEYSET_BITS(KW_KEY_CPU) | KW_KEYSET_BITS(KW_KEY_ADInplaceOrView) |
                   KW_KEYSET_BITS(KW_KEY_AutogradCPU) | KW_KEYSET_BITS(KW_KEY_AutocastCPU));

static kw_keyset type_keys(const void *tensor)
{
    return ((const fashion_tensor *)tensor)->keys;
}

static void type_retain(void *tensor)
{
    (void)fashion_tensor_retain(tensor);
}

static void type_release(void *tensor)
{
    fashion_tensor_release(tensor);
}

const kw_tensor_type fashion_tensor_type = {
    .struct_size = sizeof(kw_tensor_type),
    .name = "fashion_tensor",
    .version = 1,
    .keys = type_keys,
    .retain = type_retain,
    .release = type_release,
    .keys_at = KW_KEYS_AT(fashion_tensor, keys),
};

fashion_tensor *fashion_tensor_create(size_t rank, const size_t *shape)
{
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) {
        count *= shape[i];
    }
    fashion_tensor *tensor = malloc(sizeof *tensor + count * sizeof tensor->values[0]);
    if (tensor == NULL) {
        return NULL;
    }
    tensor->keys = cpu_keys;
    tensor->rank = rank;
    for (size_t i = 0; i < FASHION_RANK_MAX; i++) {
        tensor->shape[i] = i < rank ? shape[i] : 0;
    }
    tensor->count = count;
    atomic_init(&tensor->references, 1);
    return tensor;
}

fashion_tensor *fashion_tensor_retain(fashion_tensor *tensor)
{
    if (tensor != NULL) {
        // Relaxed: whoever retains holds a reference already.
        atomic_fetch_add_explicit(&tensor->references, 1, memory_order_relaxed);
    }
    return tensor;
}

void fashion_tensor_release(fashion_tensor *tensor)
{
    // All uses before any release come before the freeing: each decrement releases, the last also
    // acquires.
    if (tensor != NULL &&
        atomic_fetch_sub_explicit(&tensor->references, 1, memory_order_acq_rel) == 1) {
        free(tensor);
    }
}

const float *fashion_tensor_values(const fashion_tensor *tensor)
{
    return tensor != NULL ? tensor->values : NULL;
}
