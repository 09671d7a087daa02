// Versions: finding, sharing and counting up a tensor's version counter.
//
// Layer:   tensor
// Threads: any, as tensor_view.h says.
// SPDX-License-Identifier: MIT

#include "tensor/version.h"

#include <keyway/tensor_view.h>

#include "tensor/extra.h"
#include "tensor/failure.h"
#include "tensor/storage.h"
#include "tensor/tensor.h"

static kwi_counter *find_own(const kw_tensor *tensor)
{
    const kwi_extra *extra = kwi_extra_of(tensor);
    // [pair: tensor-counter]
    return extra != NULL ? kwi_ptr_load_acquire(&extra->counter) : NULL;
}

static kwi_counter *find(const kw_tensor *tensor)
{
    kwi_counter *own = find_own(tensor);
    if (own != NULL || tensor->storage == NULL) {
        return own;
    }
    return kwi_ptr_load_acquire(&tensor->storage->counter); // [pair: storage-counter]
}

// A counter in the side block of a tensor without storage, which several threads may want at once.
static kwi_counter *make_own(kw_tensor *tensor)
{
    kwi_extra *extra = kwi_extra_make(tensor);
    kwi_counter *made = extra != NULL ? kwi_counter_create() : NULL;
    void *there = NULL;
    // [pair: tensor-counter] release publishes it; acquire, if another thread was faster.
    if (made != NULL && !kwi_ptr_compare_exchange_release_acquire(&extra->counter, &there, made)) {
        kwi_counter_release(made);
        return there;
    }
    return made;
}

kwi_counter *kwi_version_counter(kw_tensor *tensor)
{
    kwi_counter *there = find(tensor);
    if (there != NULL) {
        return there;
    }
    return tensor->storage != NULL ? kwi_storage_counter(tensor->storage) : make_own(tensor);
}

bool kwi_version_is_own(const kw_tensor *tensor)
{
    return find_own(tensor) != NULL;
}

void kwi_version_set(kw_tensor *tensor, kwi_counter *take_counter)
{
    kwi_extra *extra = kwi_extra_of(tensor);
    kwi_counter *before = kwi_ptr_load_acquire(&extra->counter); // [pair: tensor-counter]
    kwi_ptr_store_release(&extra->counter, take_counter);        // [pair: tensor-counter]
    kwi_counter_release(before);
}

kw_status kwi_version_share(kw_tensor *tensor, kw_tensor *base, kw_error *err)
{
    bool is_shared_already = base->storage != NULL && !kwi_version_is_own(base);
    if (is_shared_already || kw_tensor_is_inference(base)) {
        return KW_OK;
    }
    kwi_counter *counter = kwi_version_counter(base);
    if (counter == NULL || kwi_extra_make(tensor) == NULL) {
        return kwi_tensor_fail_memory(err);
    }
    kwi_counter_retain(counter);
    kwi_version_set(tensor, counter);
    return KW_OK;
}

kw_status kwi_version_prepare(kw_tensor *tensor, kwi_counter **out_counter, kw_error *err)
{
    if (!kw_tensor_is_defined(tensor)) {
        return kwi_tensor_fail_undefined(err);
    }
    if (kw_tensor_is_inference(tensor)) {
        if (!kwi_thread_is_inferring()) {
            return kw_error_set(err, KW_NOT_SUPPORTED,
                                "an inference tensor is not written in place outside of "
                                "inference mode; clone it, and write to the clone");
        }
        *out_counter = NULL;
        return KW_OK;
    }
    kwi_counter *counter = kwi_version_counter(tensor);
    if (counter == NULL) {
        return kwi_tensor_fail_memory(err);
    }
    *out_counter = counter;
    return KW_OK;
}

void kwi_version_count(kwi_counter *counter)
{
    if (counter != NULL) {
        // Relaxed: who compares versions has another order between the write and the look.
        (void)kwi_u32_add_relaxed(&counter->version, 1);
    }
}

kw_status kw_tensor_version(const kw_tensor *tensor, uint32_t *out_version, kw_error *err)
{
    if (tensor == NULL || out_version == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "there is no tensor, or no place for its version");
    }
    if (!kw_tensor_is_defined(tensor)) {
        return kwi_tensor_fail_undefined(err);
    }
    if (kw_tensor_is_inference(tensor)) {
        return kw_error_set(err, KW_NOT_SUPPORTED, "inference tensors have no version");
    }
    const kwi_counter *counter = find(tensor);
    // Relaxed: as above.
    *out_version = counter != NULL ? kwi_u32_load_relaxed(&counter->version) : 0;
    return KW_OK;
}

kw_status kw_tensor_bump_version(kw_tensor *tensor, kw_error *err)
{
    kwi_counter *counter = NULL;
    if (tensor == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "there is no tensor");
    }
    kw_status status = kwi_version_prepare(tensor, &counter, err);
    if (status == KW_OK) {
        kwi_version_count(counter);
    }
    return status;
}
