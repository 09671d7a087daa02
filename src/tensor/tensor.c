// Tensors: making, counting and ending them.
//
// Layer:   tensor
// Threads: as tensor.h says.
// SPDX-License-Identifier: MIT

#include "tensor/tensor.h"

#include <string.h>

#include <keyway/allocator.h>
#include <keyway/local.h>

#include "tensor/extra.h"
#include "tensor/failure.h"
#include "tensor/shape.h"
#include "tensor/slab.h"

const unsigned char kwi_tensor_layout_1 = KW_TENSOR_LAYOUT;

#define UNDEFINED_KEYS                                                                             \
    (KW_KEYSET_BITS(KW_KEY_ADInplaceOrView) | KW_KEYSET_BITS(KW_KEY_AutogradOther))
#define NO_DTYPE UINT8_MAX

// Never freed, never counted, never changed. Its counts say that somebody has it.
kw_tensor kwi_undefined = {
    .keys = UNDEFINED_KEYS,
    .counts = {KWI_TENSOR_ONLY_ONE},
    .dtype = NO_DTYPE,
    .device_index = -1,
    .flags = KWI_TENSOR_STATIC,
};

kw_tensor *kw_tensor_undefined(void)
{
    return &kwi_undefined;
}

// By its address: flags may be changed by one thread while others count references.
bool kw_tensor_is_defined(const kw_tensor *tensor)
{
    return tensor != &kwi_undefined;
}

// Making ----------------------------------------------------------------------------------------

static bool is_inline(uint32_t dim)
{
    return dim <= KW_TENSOR_INLINE_DIM;
}

static size_t block_bytes(uint32_t dim)
{
    return 2 * (size_t)dim * sizeof(int64_t);
}

// Contiguous elements have nothing to find out, but where they could be called channels last, too.
static uint16_t flags_of(const kwi_geometry *shape, bool is_contiguous)
{
    return is_contiguous && shape->dim != 4 && shape->dim != 5
               ? KWI_TENSOR_CONTIGUOUS | KWI_TENSOR_DENSE
               : kwi_shape_flags(shape->sizes, shape->strides, shape->dim);
}

// Fills in sizes and strides, which lie in `block` if they do not fit the body, and the flags of
// contiguity.
static void fill_shape(kw_tensor *tensor, const kwi_geometry *shape, int64_t *block,
                       bool is_contiguous)
{
    int64_t *sizes = block != NULL ? block : tensor->shape.words;
    int64_t *strides = sizes + (block != NULL ? shape->dim : KW_TENSOR_INLINE_DIM);
    for (uint32_t i = 0; i < shape->dim; i++) {
        sizes[i] = shape->sizes[i];
        strides[i] = shape->strides[i];
    }
    if (block != NULL) {
        tensor->shape.block = block;
    }
    tensor->dim = (uint8_t)shape->dim;
    tensor->offset = shape->offset;
    tensor->flags &= (uint16_t) ~(KWI_SHAPE_FLAGS | KWI_TENSOR_SYMBOLIC);
    tensor->flags |= flags_of(shape, is_contiguous);
}

kw_status kwi_tensor_make(const kwi_tensor_parts *parts, kw_tensor **out_tensor, kw_error *err)
{
    uint32_t dim = parts->shape.dim;
    int64_t *block = is_inline(dim) ? NULL : kw_memory_allocate(block_bytes(dim));
    kw_tensor *tensor = is_inline(dim) || block != NULL ? kwi_slab_take() : NULL;
    if (tensor == NULL) {
        kw_memory_free(block, block_bytes(dim));
        return kwi_tensor_fail_memory(err);
    }
    tensor->keys = parts->keys.bits;
    kwi_u64_store_relaxed(&tensor->counts, KWI_TENSOR_ONLY_ONE); // relaxed: nobody else knows it
    kw_storage_retain(parts->storage);
    tensor->storage = parts->storage;
    kwi_ptr_store_relaxed(&tensor->extra, NULL); // relaxed: the same
    tensor->dtype = parts->dtype;
    tensor->layout = parts->layout;
    tensor->device_type = (uint8_t)parts->device.type;
    tensor->device_index = (int8_t)parts->device.index;
    tensor->reserved = 0;
    tensor->flags = parts->flags;
    fill_shape(tensor, &parts->shape, block, parts->is_contiguous);
    *out_tensor = tensor;
    return KW_OK;
}

kwi_geometry kwi_tensor_shape(const kw_tensor *tensor)
{
    return (kwi_geometry){
        .sizes = kw_tensor_sizes(tensor),
        .strides = kw_tensor_strides(tensor),
        .offset = tensor->offset,
        .dim = tensor->dim,
    };
}

static void free_shape(kw_tensor *tensor)
{
    if (!is_inline(tensor->dim)) {
        kw_memory_free(tensor->shape.block, block_bytes(tensor->dim));
    }
}

kw_status kwi_tensor_set_shape(kw_tensor *tensor, const kwi_geometry *shape, kw_error *err)
{
    // A copy first: the numbers may be the tensor's own.
    int64_t words[2 * KW_TENSOR_INLINE_DIM];
    int64_t *copy = is_inline(shape->dim) ? words : kw_memory_allocate(block_bytes(shape->dim));
    if (copy == NULL) {
        return kwi_tensor_fail_memory(err);
    }
    for (uint32_t i = 0; i < shape->dim; i++) {
        copy[i] = shape->sizes[i];
        copy[shape->dim + i] = shape->strides[i];
    }
    free_shape(tensor);
    const kwi_geometry own = {copy, copy + shape->dim, shape->offset, shape->dim};
    fill_shape(tensor, &own, copy != words ? copy : NULL, false);
    return KW_OK;
}

bool kwi_thread_is_inferring(void)
{
    kw_local_state state = kw_local_capture();
    return kw_keyset_has_all(state.excluded, kw_keyset_autograd()) &&
           !kw_keyset_has(state.included, KW_KEY_ADInplaceOrView);
}

// Ending ----------------------------------------------------------------------------------------

void kwi_tensor_end_contents(kw_tensor *tensor)
{
    kwi_extra_end(tensor);
    kw_storage_release(tensor->storage);
    free_shape(tensor);
    tensor->storage = NULL;
    tensor->dim = 0;
}
