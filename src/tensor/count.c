// References to tensors: strong and weak ones, counted in one word.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT
//
// Note [Counts of a tensor]
//
// The low half of the word counts strong references, the high half weak ones, and one for all
// strong ones together. Contents end with the last strong reference; the body with the last weak
// one, which is the strong ones' if there is no other.
//
// J1  Contents end once, before the body, and after everything that holders of strong references
//     did: each gives its reference back with release, and who ends the contents acquires.
// J2  A strong half of 0 stays 0. A weak reference becomes a strong one by compare-exchange from
//     another value than 0.
// J3  The body is given back once, after everything that holders of any reference did with it.
//
// Who loads exactly one strong reference, its own, and no weak one but that of the strong ones, has
// the tensor for itself: only holders make references. One load of the whole word is needed for
// that. Of two loads, the first can see the strong reference of a thread that goes on to make
// itself a weak one and gives up the strong one, and the second what is left. Then the release
// needs no read-modify-write, which is most of its cost.

#include <keyway/tensor.h>

#include "tensor/slab.h"
#include "tensor/step.h"
#include "tensor/tensor.h"

#ifdef KWI_TESTING
kwi_tensor_fault kwi_tensor_seeded = KWI_TENSOR_FAULT_NONE;
void (*kwi_tensor_step)(const kw_tensor *tensor);
#endif

static bool is_counted(const kw_tensor *tensor)
{
    return tensor != NULL && tensor != &kwi_undefined;
}

void kw_tensor_retain(kw_tensor *tensor)
{
    if (is_counted(tensor)) {
        KWI_TENSOR_STEP(tensor);
        // Relaxed: the caller has a reference.
        (void)kwi_u64_add_relaxed(&tensor->counts, KWI_TENSOR_STRONG);
    }
}

static bool is_only_one(const kw_tensor *tensor)
{
    KWI_TENSOR_STEP(tensor);
    if (KWI_TENSOR_FAULT(ONLY_ONE_IN_HALVES)) {
        // Relaxed: a seeded fault.
        bool is_weak_alone = kwi_u64_load_relaxed(&tensor->counts) >> 32 == 1;
        KWI_TENSOR_STEP(tensor);
        return is_weak_alone && (uint32_t)kwi_u64_load_relaxed(&tensor->counts) == 1;
    }
    return kwi_u64_load_acquire(&tensor->counts) == KWI_TENSOR_ONLY_ONE; // [pair: tensor-count]
}

// What the holder of the last strong reference does, who is not the holder of the last one of all
// for certain.
static void end_strong(kw_tensor *tensor)
{
    if (KWI_TENSOR_FAULT(BODY_BEFORE_CONTENTS)) {
        kw_tensor_weak_release(tensor);
        KWI_TENSOR_STEP(tensor);
    }
    kwi_tensor_end_contents(tensor);
    if (KWI_TENSOR_FAULT(WEAK_NOT_LOOKED_AT)) {
        kwi_slab_give_back(tensor);
    } else if (!KWI_TENSOR_FAULT(BODY_BEFORE_CONTENTS)) {
        kw_tensor_weak_release(tensor); // that of all strong ones together
    }
}

// The counts before one strong reference was given back.
static uint64_t give_back_strong(kw_tensor *tensor)
{
    if (KWI_TENSOR_FAULT(RELAXED_RELEASE)) {
        return kwi_u64_add_relaxed(&tensor->counts, 0 - KWI_TENSOR_STRONG); // relaxed: a fault
    }
    return kwi_u64_sub_release(&tensor->counts, KWI_TENSOR_STRONG); // [pair: tensor-count]
}

void kw_tensor_release(kw_tensor *tensor)
{
    if (!is_counted(tensor)) {
        return;
    }
    if (is_only_one(tensor)) {
        kwi_tensor_end_contents(tensor);
        kwi_slab_give_back(tensor);
        return;
    }
    KWI_TENSOR_STEP(tensor);
    if ((uint32_t)give_back_strong(tensor) == 1) {
        (void)kwi_u64_load_acquire(&tensor->counts); // [pair: tensor-count]
        end_strong(tensor);
    }
}

uint32_t kw_tensor_use_count(const kw_tensor *tensor)
{
    return (uint32_t)kwi_u64_load_relaxed(&tensor->counts); // relaxed: a hint
}

void kw_tensor_weak_retain(kw_tensor *tensor)
{
    if (is_counted(tensor)) {
        KWI_TENSOR_STEP(tensor);
        // Relaxed: the caller has a reference.
        (void)kwi_u64_add_relaxed(&tensor->counts, KWI_TENSOR_WEAK);
    }
}

void kw_tensor_weak_release(kw_tensor *tensor)
{
    if (!is_counted(tensor)) {
        return;
    }
    KWI_TENSOR_STEP(tensor);
    // [pair: tensor-count]
    if (kwi_u64_sub_release(&tensor->counts, KWI_TENSOR_WEAK) >> 32 == 1) {
        (void)kwi_u64_load_acquire(&tensor->counts); // [pair: tensor-count]
        kwi_slab_give_back(tensor);
    }
}

bool kw_tensor_lock(kw_tensor *weak)
{
    if (!is_counted(weak)) {
        return weak != NULL;
    }
    KWI_TENSOR_STEP(weak);
    uint64_t counts = kwi_u64_load_relaxed(&weak->counts); // relaxed: the swap decides
    while ((uint32_t)counts != 0 || KWI_TENSOR_FAULT(LOCK_FROM_ZERO)) {
        KWI_TENSOR_STEP(weak);
        if (KWI_TENSOR_FAULT(LOCK_BY_ADDING)) {
            counts = kwi_u64_add_relaxed(&weak->counts, KWI_TENSOR_STRONG); // relaxed: a fault
            return true;
        }
        // Acquire, as what makes the reference that the caller gets. [pair: tensor-count]
        if (kwi_u64_compare_exchange_acquire_relaxed(&weak->counts, &counts,
                                                     counts + KWI_TENSOR_STRONG)) {
            return true;
        }
    }
    return false;
}
