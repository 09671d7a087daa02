// A second implementation of precedence and masks for tests.
//
// SPDX-License-Identifier: MIT

#include "unit/table_reference.h"

#include <keyway/keyset.h>

// Members of the CompositeExplicitAutograd set other than Dense share AutogradOther.
static bool shares_autograd_other(kw_key key)
{
    switch (kw_key_functionality(key)) {
    case KW_KEY_FPGA:
    case KW_KEY_Vulkan:
    case KW_KEY_Metal:
    case KW_KEY_Quantized:
    case KW_KEY_CustomRNGKeyId:
    case KW_KEY_MkldnnCPU:
    case KW_KEY_Sparse:
    case KW_KEY_SparseCsr:
        return true;
    default:
        return false;
    }
}

static bool is_explicit(kw_key key)
{
    return kw_key_functionality(key) == KW_KEY_Dense || shares_autograd_other(key);
}

static bool is_non_functional(kw_key key)
{
    kw_backend backend = kw_key_backend(key);
    return is_explicit(key) && kw_key_functionality(key) != KW_KEY_Sparse &&
           backend != KW_BACKEND_XLA && backend != KW_BACKEND_Lazy;
}

static bool is_nested(kw_key key)
{
    return kw_key_functionality(key) == KW_KEY_NestedTensor || key == KW_KEY_AutogradNestedTensor;
}

static bool is_autograd(kw_key key)
{
    kw_key functionality = kw_key_functionality(key);
    return functionality == KW_KEY_AutogradFunctionality || functionality == KW_KEY_AutogradOther ||
           functionality == KW_KEY_AutogradNestedTensor;
}

static bool is_implicit(kw_key key)
{
    return is_explicit(key) || kw_key_functionality(key) == KW_KEY_NestedTensor || is_autograd(key);
}

// Whether a kernel registered for `key` keeps an implicit kernel out of `autograd`. A bare building
// block counts for every backend: a set that holds a key of the block holds the block.
static bool blocks(kw_key key, kw_key autograd)
{
    kw_backend backend = kw_key_backend(autograd);
    if (autograd == KW_KEY_AutogradOther) {
        return shares_autograd_other(key);
    }
    if (autograd == KW_KEY_AutogradNestedTensor) {
        return kw_key_functionality(key) == KW_KEY_NestedTensor;
    }
    if (kw_key_functionality(autograd) != KW_KEY_AutogradFunctionality ||
        backend == KW_BACKEND_HIP || backend == KW_BACKEND_VE || backend == KW_BACKEND_MTIA) {
        return false;
    }
    return key == KW_KEY_Dense ||
           (kw_key_functionality(key) == KW_KEY_Dense && kw_key_backend(key) == backend);
}

static bool is_blocked(const kwi_reference *reference, kw_key autograd)
{
    for (unsigned key = 1; key < KW_KEY_Autograd; key++) {
        if (reference->direct[key] != NULL && blocks((kw_key)key, autograd)) {
            return true;
        }
    }
    return false;
}

static kwi_reference_winner won(const kwi_candidate *candidate, kwi_rule rule)
{
    return (kwi_reference_winner){.candidate = candidate, .rule = rule};
}

// The step of CompositeImplicitAutograd. False if it leaves the key to the steps after it.
static bool resolve_implicit(const kwi_reference *reference, kw_key key,
                             kwi_reference_winner *out_winner)
{
    const kwi_candidate *implicit = reference->direct[KW_KEY_CompositeImplicitAutograd];
    if (implicit == NULL || (key != KW_KEY_Undefined && !is_implicit(key))) {
        return false;
    }
    if (key == KW_KEY_AutogradOther && is_blocked(reference, key)) {
        *out_winner = won(NULL, KWI_RULE_AMBIGUOUS);
        return true;
    }
    if (reference->direct[KW_KEY_CompositeExplicitAutograd] != NULL || is_blocked(reference, key)) {
        return false;
    }
    *out_winner = won(implicit, KWI_RULE_IMPLICIT);
    return true;
}

kwi_reference_winner kwi_reference_resolve(const kwi_reference *reference, kw_key key)
{
    const kwi_candidate *const *direct = reference->direct;
    const kwi_candidate *non_functional = direct[KW_KEY_CompositeExplicitAutogradNonFunctional];
    const kwi_candidate *explicit_kernel = direct[KW_KEY_CompositeExplicitAutograd];
    const kwi_candidate *nested = direct[KW_KEY_CompositeImplicitAutogradNestedTensor];
    const kwi_candidate *batched = direct[KW_KEY_FuncTorchBatchedDecomposition];
    const kwi_candidate *fallback = &reference->fallbacks[kw_key_slot(key)];
    bool is_undefined = key == KW_KEY_Undefined;

    if (!is_undefined && direct[key] != NULL) {
        return won(direct[key], KWI_RULE_DIRECT);
    }
    if (non_functional != NULL && (is_undefined || is_non_functional(key))) {
        return won(non_functional, KWI_RULE_NON_FUNCTIONAL);
    }
    if (explicit_kernel != NULL && (is_undefined || is_explicit(key))) {
        return won(explicit_kernel, KWI_RULE_EXPLICIT);
    }
    if (nested != NULL && is_nested(key)) {
        return won(nested, KWI_RULE_NESTED);
    }
    kwi_reference_winner winner;
    if (resolve_implicit(reference, key, &winner)) {
        return winner;
    }
    if (direct[KW_KEY_Autograd] != NULL && is_autograd(key)) {
        return won(direct[KW_KEY_Autograd], KWI_RULE_AUTOGRAD);
    }
    if (batched != NULL && key == KW_KEY_FuncTorchBatched) {
        return won(batched, KWI_RULE_BATCHED);
    }
    return fallback->kernel != NULL ? won(fallback, KWI_RULE_FALLBACK)
                                    : won(NULL, KWI_RULE_MISSING);
}

// Takes the functionality of the key out of a mask, or puts it in.
static void update(uint64_t *mask, kw_key key, bool fallthrough)
{
    kw_key functionality = kw_key_functionality(key);
    uint64_t bit = functionality != KW_KEY_Undefined ? UINT64_C(1) << (15 + functionality) : 0;
    *mask = fallthrough ? *mask & ~bit : *mask | bit;
}

static void set_fallthrough(kwi_reference_masks *masks, kw_key key, bool fallthrough)
{
    update(&masks->global, key, fallthrough);
    if (kw_key_backend(key) != KW_BACKEND_INVALID) {
        update(&masks->backend[kw_key_backend(key) - 1], key, fallthrough);
        masks->differs = false;
        for (int i = 1; i < KW_BACKEND_COUNT; i++) {
            masks->differs |= masks->backend[i] != masks->backend[i - 1];
        }
        return;
    }
    for (int i = 0; i < KW_BACKEND_COUNT; i++) {
        update(&masks->backend[i], key, fallthrough);
    }
}

void kwi_reference_masks_make(const kwi_reference *reference, kwi_reference_masks *masks)
{
    masks->global = UINT64_C(0x7fffffffffffffff);
    masks->differs = false;
    for (int i = 0; i < KW_BACKEND_COUNT; i++) {
        masks->backend[i] = masks->global;
    }
    for (unsigned number = 0; number < KW_KEY_Autograd; number++) {
        kw_key key = (kw_key)number;
        if (kw_key_is_runtime(key)) {
            kwi_reference_winner winner = kwi_reference_resolve(reference, key);
            set_fallthrough(masks, key, winner.candidate != NULL && winner.candidate->fallthrough);
        }
    }
}

uint64_t kwi_reference_masked(const kwi_reference_masks *masks, uint64_t bits)
{
    if (!masks->differs) {
        return bits & masks->global;
    }
    int highest = 0;
    for (int i = 0; i < KW_BACKEND_COUNT; i++) {
        highest = (bits >> i & 1) != 0 ? i : highest;
    }
    return bits & masks->backend[highest];
}
