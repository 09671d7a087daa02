// What alias keys stand for, and the memberships that follow from it.
//
// Layer:   key
// Threads: any; constants only.
// SPDX-License-Identifier: MIT

#include <keyway/key.h>
#include <keyway/keyset.h>

// Not NestedTensor: a kernel for all dense layouts says nothing about nested ones.
#define EXPLICIT_SET (KW_KEYSET_AUTOGRADOTHER_BACKENDS | KW_KEYSET_BITS(KW_KEY_Dense))

// Sparse, XLA and Lazy are left to other kernels. A set is a cross product, so QuantizedXLA and
// SparseCsrLazy go too, while SparseCsrCPU stays although SparseCPU goes.
#define NON_FUNCTIONAL_SET                                                                         \
    (EXPLICIT_SET & ~(KW_KEYSET_SPARSE | KW_KEYSET_BACKEND_BITS(KW_BACKEND_XLA) |                  \
                      KW_KEYSET_BACKEND_BITS(KW_BACKEND_Lazy)))

#define NESTED_SET (KW_KEYSET_BITS(KW_KEY_NestedTensor) | KW_KEYSET_BACKEND_MASK)

static uint64_t runtime_bits(kw_key key)
{
    switch (key) {
    case KW_KEY_Autograd:
        return KW_KEYSET_AUTOGRAD | KW_KEYSET_BACKEND_MASK;
    case KW_KEY_CompositeImplicitAutograd:
        return EXPLICIT_SET | KW_KEYSET_AUTOGRAD | NESTED_SET;
    case KW_KEY_FuncTorchBatchedDecomposition:
        return KW_KEYSET_FUNCTORCH_BATCHED;
    case KW_KEY_CompositeImplicitAutogradNestedTensor:
        return KW_KEYSET_BITS(KW_KEY_AutogradNestedTensor) | NESTED_SET;
    case KW_KEY_CompositeExplicitAutograd:
        return EXPLICIT_SET;
    case KW_KEY_CompositeExplicitAutogradNonFunctional:
        return NON_FUNCTIONAL_SET;
    default:
        return kw_key_is_runtime(key) ? KW_KEYSET_BITS(key) : 0;
    }
}

kw_keyset kw_key_runtime_set(kw_key key)
{
    return kw_keyset_from_bits(runtime_bits(key));
}

bool kw_key_in_alias(kw_key key, kw_key alias)
{
    // A marker has its building block's bit, but is no key.
    if (!kw_key_is_valid(key) || !kw_key_is_valid(alias)) {
        return false;
    }
    kw_keyset covered =
        kw_key_is_alias(alias) ? kw_key_runtime_set(alias) : kw_keyset_from_key(alias);
    return kw_keyset_has(covered, key);
}

bool kw_key_is_backend_key(kw_key key)
{
    return kw_key_in_alias(key, KW_KEY_CompositeExplicitAutograd);
}
