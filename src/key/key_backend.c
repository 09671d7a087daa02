// Which autograd and autocast keys go with a backend, and which backends with an autograd key.
//
// Layer:   key
// Threads: any; constants only.
// SPDX-License-Identifier: MIT

#include <keyway/key.h>
#include <keyway/keyset.h>

kw_key kw_backend_autograd_key(kw_backend backend)
{
    bool has_own =
        kw_backend_is_valid(backend) && backend != KW_BACKEND_HIP && backend != KW_BACKEND_VE;
    return has_own ? kw_key_of(KW_KEY_AutogradFunctionality, backend) : KW_KEY_AutogradOther;
}

kw_keyset kw_backend_autograd_set(kw_backend backend)
{
    kw_keyset keys = kw_keyset_from_key(kw_backend_autograd_key(backend));
    return kw_keyset_add(keys, KW_KEY_ADInplaceOrView);
}

kw_key kw_backend_autocast_key(kw_backend backend)
{
    static const uint8_t keys[KW_BACKEND_COUNT + 1] = {
        [KW_BACKEND_CPU] = KW_KEY_AutocastCPU,
        [KW_BACKEND_CUDA] = KW_KEY_AutocastCUDA,
        [KW_BACKEND_XLA] = KW_KEY_AutocastXLA,
        [KW_BACKEND_MPS] = KW_KEY_AutocastMPS,
        [KW_BACKEND_IPU] = KW_KEY_AutocastIPU,
        [KW_BACKEND_XPU] = KW_KEY_AutocastXPU,
        [KW_BACKEND_HPU] = KW_KEY_AutocastHPU,
        [KW_BACKEND_MTIA] = KW_KEY_AutocastMTIA,
        [KW_BACKEND_MAIA] = KW_KEY_AutocastMAIA,
        [KW_BACKEND_PrivateUse1] = KW_KEY_AutocastPrivateUse1,
    };
    return kw_backend_is_valid(backend) ? keys[backend] : KW_KEY_Undefined;
}

kw_keyset kw_backend_autocast_set(kw_backend backend)
{
    return kw_keyset_from_key(kw_backend_autocast_key(backend));
}

kw_keyset kw_autograd_backend_set(kw_key key)
{
    if (key == KW_KEY_AutogradOther) {
        return kw_keyset_from_bits(KW_KEYSET_AUTOGRADOTHER_BACKENDS);
    }
    if (key == KW_KEY_AutogradNestedTensor) {
        return kw_keyset_from_bits(KW_KEYSET_BITS(KW_KEY_NestedTensor) | KW_KEYSET_BACKEND_MASK);
    }
    // MTIA is left out although its tensors carry AutogradMTIA: PyTorch's map lacks it.
    kw_backend backend = kw_key_backend(key);
    if (backend == KW_BACKEND_INVALID || backend == KW_BACKEND_MTIA ||
        key != kw_backend_autograd_key(backend)) {
        return kw_keyset_empty();
    }
    return kw_keyset_from_key(kw_key_of(KW_KEY_Dense, backend));
}
