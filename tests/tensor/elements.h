// Tensors whose elements say where they lie, for comparing views and copies with lists of places.
// SPDX-License-Identifier: MIT

#ifndef KWT_TENSOR_ELEMENTS_H
#define KWT_TENSOR_ELEMENTS_H

#include <keyway/tensor_view.h>

#include "base/memory.h"
#include "make.h"
#include "places.h"

#define KWT_LIST(...)                                                                              \
    ((kw_int_list){(const int64_t[]){__VA_ARGS__},                                                 \
                   sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)})

// For the beginning and the end of a test that is about what ends with what.
static uint64_t kwt_bytes_before;

static inline void kwt_count_bytes(void)
{
    kwt_bytes_before = kwi_memory_bytes();
}

static inline void kwt_expect_bytes(void)
{
    cr_expect_eq(kwi_memory_bytes(), kwt_bytes_before, "%lld bytes stay allocated",
                 (long long)(kwi_memory_bytes() - kwt_bytes_before));
}

// An int32 tensor over `count` elements; each element holds its number in the storage.
static inline kw_tensor *kwt_numbered(int64_t count)
{
    kw_tensor_options options = kwt_options(&count, 1);
    options.dtype = KW_DTYPE_INT32;
    kw_tensor *tensor = kwt_create(&options);
    void *data = NULL;
    KWT_OK(kw_tensor_mutable_data(tensor, &data, NULL));
    for (int32_t i = 0; i < (int32_t)count; i++) {
        ((int32_t *)data)[i] = i;
    }
    return tensor;
}

// Reads an int32 tensor, index by index.
static inline void kwt_read(const kw_tensor *tensor, kwt_places *out_places)
{
    kwt_places_of_strides(out_places, kw_tensor_sizes(tensor), kw_tensor_strides(tensor),
                          kw_tensor_dim(tensor), 0);
    const int32_t *data = kw_tensor_data(tensor);
    for (int64_t i = 0; i < out_places->count; i++) {
        out_places->at[i] = data[out_places->at[i]];
    }
}

static inline uint32_t kwt_version(const kw_tensor *tensor)
{
    uint32_t version = UINT32_MAX;
    KWT_OK(kw_tensor_version(tensor, &version, NULL));
    return version;
}

#endif // KWT_TENSOR_ELEMENTS_H
