// Keys of a tensor that change in its life: bits of views and interpreters, keys of an embedder's
// own, another backend.
//
// Layer:   tensor
// Threads: as the tensor.
// SPDX-License-Identifier: MIT

#include <keyway/tensor.h>

#include "tensor/failure.h"

// Keys that follow from the backend, or that a function of tensor.h keeps in step with something.
#define BACKEND_KEYS                                                                               \
    (KW_KEYSET_BACKEND_MASK | KW_KEYSET_BUILDING_BLOCKS | KW_KEYSET_AUTOGRADOTHER_BACKENDS)
#define KEPT_KEYS                                                                                  \
    (BACKEND_KEYS | KW_KEYSET_AUTOGRAD_WITH_VIEW | KW_KEYSET_AUTOCAST | KW_KEYSET_PYTHON |         \
     KW_KEYSET_BITS(KW_KEY_Conjugate) | KW_KEYSET_BITS(KW_KEY_Negative) |                          \
     KW_KEYSET_BITS(KW_KEY_ZeroTensor) | KW_KEYSET_BITS(KW_KEY_Named))

static bool has_all(const kw_tensor *tensor, uint64_t bits)
{
    return (tensor->keys & bits) == bits;
}

// The undefined tensor, which all share, stays as it is.
static void set(kw_tensor *tensor, uint64_t bits, bool is_set)
{
    if (kw_tensor_is_defined(tensor)) {
        tensor->keys = is_set ? tensor->keys | bits : tensor->keys & ~bits;
    }
}

bool kw_tensor_is_conj(const kw_tensor *tensor)
{
    return has_all(tensor, KW_KEYSET_BITS(KW_KEY_Conjugate));
}

bool kw_tensor_is_neg(const kw_tensor *tensor)
{
    return has_all(tensor, KW_KEYSET_BITS(KW_KEY_Negative));
}

bool kw_tensor_is_zero_tensor(const kw_tensor *tensor)
{
    return has_all(tensor, KW_KEYSET_BITS(KW_KEY_ZeroTensor));
}

bool kw_tensor_is_python_dispatch(const kw_tensor *tensor)
{
    return has_all(tensor, KW_KEYSET_PYTHON);
}

void kw_tensor_set_conj(kw_tensor *tensor, bool is_conj)
{
    set(tensor, KW_KEYSET_BITS(KW_KEY_Conjugate), is_conj);
}

void kw_tensor_set_neg(kw_tensor *tensor, bool is_neg)
{
    set(tensor, KW_KEYSET_BITS(KW_KEY_Negative), is_neg);
}

void kw_tensor_set_zero_tensor(kw_tensor *tensor, bool is_zero)
{
    set(tensor, KW_KEYSET_BITS(KW_KEY_ZeroTensor), is_zero);
}

void kw_tensor_set_python_dispatch(kw_tensor *tensor, bool is_python)
{
    set(tensor, KW_KEYSET_PYTHON, is_python);
}

kw_status kw_tensor_change_keys(kw_tensor *tensor, kw_keyset added, kw_keyset removed,
                                kw_error *err)
{
    if (!kw_tensor_is_defined(tensor)) {
        return kwi_tensor_fail_undefined(err);
    }
    kw_keyset kept = kw_keyset_from_bits((added.bits | removed.bits) & KEPT_KEYS);
    if (!kw_keyset_is_empty(kept)) {
        char text[256];
        (void)kw_keyset_format(kept, text, sizeof text);
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "these keys follow from the tensor's backend or have a function of "
                            "their own: %s",
                            text);
    }
    tensor->keys = (tensor->keys | added.bits) & ~removed.bits;
    return KW_OK;
}

kw_status kw_tensor_change_backend(kw_tensor *tensor, kw_key backend_key, kw_error *err)
{
    if (!kw_tensor_is_defined(tensor)) {
        return kwi_tensor_fail_undefined(err);
    }
    kw_key functionality = kw_key_functionality(backend_key);
    kw_backend backend = kw_key_backend(backend_key);
    bool is_nested = functionality == KW_KEY_NestedTensor && backend != KW_BACKEND_INVALID;
    bool is_block = kw_key_is_per_backend(functionality);
    if (!is_nested &&
        (!kw_key_is_backend_key(backend_key) || (is_block && backend == KW_BACKEND_INVALID))) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "%s is no key of a backend",
                            kw_key_name(backend_key));
    }
    kw_backend before = kw_keyset_highest_backend(kw_tensor_keyset(tensor));
    uint64_t gone = KW_KEYSET_AUTOGRADOTHER_BACKENDS | KW_KEYSET_BITS(KW_KEY_Dense) |
                    KW_KEYSET_BITS(KW_KEY_NestedTensor) | kw_backend_autocast_set(before).bits;
    tensor->keys = (tensor->keys & ~gone) | kw_keyset_from_key(backend_key).bits |
                   kw_backend_autocast_set(backend).bits;
    return KW_OK;
}
