// Side blocks: their beginning and end, and the objects that autograd and backends keep there.
//
// Layer:   tensor
// Threads: as the tensor; a block is made by any thread.
// SPDX-License-Identifier: MIT

#include "tensor/extra.h"

#include <keyway/allocator.h>

#include "tensor/failure.h"

// guard: cell. Relaxed: statistics.
static kwi_u64_cell extra_count;

kwi_extra *kwi_extra_of(const kw_tensor *tensor)
{
    return kwi_ptr_load_acquire(&tensor->extra); // [pair: tensor-extra]
}

kwi_extra *kwi_extra_make(kw_tensor *tensor)
{
    void *there = kwi_ptr_load_acquire(&tensor->extra); // [pair: tensor-extra]
    if (there != NULL) {
        return there;
    }
    kwi_extra *made = kw_memory_allocate(sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    // [pair: tensor-extra] release publishes it; acquire, if another thread was faster.
    if (!kwi_ptr_compare_exchange_release_acquire(&tensor->extra, &there, made)) {
        kw_memory_free(made, sizeof *made);
        return there;
    }
    (void)kwi_u64_add_relaxed(&extra_count, 1); // relaxed: statistics
    return made;
}

void kwi_extra_end(kw_tensor *tensor)
{
    kwi_extra *extra = kwi_extra_of(tensor);
    if (extra == NULL) {
        return;
    }
    if (extra->owns_object && extra->release_object != NULL) {
        // [pair: tensor-claim]
        extra->release_object(kwi_ptr_load_acquire(&extra->interpreter), extra->object);
    }
    kw_object_release(extra->autograd);
    kw_object_release(extra->backend_metadata);
    kwi_counter_release(kwi_ptr_load_acquire(&extra->counter)); // [pair: tensor-counter]
    kwi_names_free(extra->names);
    kwi_symbols_free(extra->symbols);
    kwi_ptr_store_relaxed(&tensor->extra, NULL);         // relaxed: nobody else knows the tensor
    (void)kwi_u64_add_relaxed(&extra_count, UINT64_MAX); // relaxed: statistics; one fewer
    kw_memory_free(extra, sizeof *extra);
}

uint64_t kwi_extra_count(void)
{
    return kwi_u64_load_relaxed(&extra_count); // relaxed: statistics
}

// Objects ---------------------------------------------------------------------------------------

// Puts an object into a place of the side block, which is made only if it is needed.
static kw_status set_object(kw_tensor *tensor, size_t place, kw_object *object, kw_error *err)
{
    if (!kw_tensor_is_defined(tensor)) {
        return kwi_tensor_fail_undefined(err);
    }
    kwi_extra *extra = object != NULL ? kwi_extra_make(tensor) : kwi_extra_of(tensor);
    if (extra == NULL) {
        return object != NULL ? kwi_tensor_fail_memory(err) : KW_OK;
    }
    kw_object **at = (kw_object **)(void *)((unsigned char *)extra + place);
    kw_object *before = *at;
    kw_object_retain(object);
    *at = object;
    kw_object_release(before);
    return KW_OK;
}

kw_object *kw_tensor_autograd(const kw_tensor *tensor)
{
    const kwi_extra *extra = kwi_extra_of(tensor);
    return extra != NULL ? extra->autograd : NULL;
}

kw_status kw_tensor_set_autograd(kw_tensor *tensor, kw_object *metadata, kw_error *err)
{
    return set_object(tensor, offsetof(kwi_extra, autograd), metadata, err);
}

kw_object *kw_tensor_backend_metadata(const kw_tensor *tensor)
{
    const kwi_extra *extra = kwi_extra_of(tensor);
    return extra != NULL ? extra->backend_metadata : NULL;
}

kw_status kw_tensor_set_backend_metadata(kw_tensor *tensor, kw_object *metadata, kw_error *err)
{
    return set_object(tensor, offsetof(kwi_extra, backend_metadata), metadata, err);
}
