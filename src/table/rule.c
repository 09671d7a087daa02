// The rules of precedence: an ordered array of small rules, the only implementation there is.
//
// Layer:   table
// Threads: any; pure functions.
// SPDX-License-Identifier: MIT

#include "table/rule.h"

#include <keyway/keyset.h>

#include "base/assert.h"
#include "table/claim.h"

#define ALIAS_COUNT (KW_KEY_LIMIT - KW_KEY_Autograd)

// The backends whose Dense kernels keep an implicit kernel out of their autograd slot. HIP and VE
// tensors carry AutogradOther; that MTIA is not here is an omission of PyTorch's, kept.
#define BLOCKING_BACKENDS                                                                          \
    (KW_KEYSET_BACKEND_MASK &                                                                      \
     ~(KW_KEYSET_BACKEND_BITS(KW_BACKEND_HIP) | KW_KEYSET_BACKEND_BITS(KW_BACKEND_VE) |            \
       KW_KEYSET_BACKEND_BITS(KW_BACKEND_MTIA)))

// The input sorted by kind of key, and the claims made so far.
struct resolution {
    const kwi_resolve_input *input;
    const kwi_candidate *by_alias[ALIAS_COUNT];
    kwi_slotset direct; // slots of the runtime keys that have a kernel
    kw_keyset bare;     // building blocks that have a kernel: they reach no slot, but count
    kwi_claims *claims;
};

struct rule {
    const char *name;
    const char *reason;
    const char *sentence;
    kw_key alias; // whose kernel the rule places; Undefined if the rule is not about one
    void (*apply)(struct resolution *resolution, const struct rule *rule);
};

static void apply_direct(struct resolution *resolution, const struct rule *rule);
static void apply_alias(struct resolution *resolution, const struct rule *rule);
static void apply_ambiguous(struct resolution *resolution, const struct rule *rule);
static void apply_implicit(struct resolution *resolution, const struct rule *rule);
static void apply_fallback(struct resolution *resolution, const struct rule *rule);
static void apply_missing(struct resolution *resolution, const struct rule *rule);

static const struct rule rules[KWI_RULE_COUNT] = {
    [KWI_RULE_DIRECT] =
        {
            .name = "direct",
            .reason = "kernel",
            .sentence = "A kernel registered for exactly this key wins, even if it is a "
                        "fallthrough.",
            .apply = apply_direct,
        },
    [KWI_RULE_NON_FUNCTIONAL] =
        {
            .name = "explicit-nonfunctional",
            .reason = "default backend kernel",
            .sentence = "A CompositeExplicitAutogradNonFunctional kernel serves Undefined and "
                        "every backend key but those of Sparse, XLA and Lazy.",
            .alias = KW_KEY_CompositeExplicitAutogradNonFunctional,
            .apply = apply_alias,
        },
    [KWI_RULE_EXPLICIT] =
        {
            .name = "explicit",
            .reason = "default backend kernel",
            .sentence = "A CompositeExplicitAutograd kernel serves Undefined and every backend "
                        "key.",
            .alias = KW_KEY_CompositeExplicitAutograd,
            .apply = apply_alias,
        },
    [KWI_RULE_NESTED] =
        {
            .name = "implicit-nested",
            .reason = "nested kernel",
            .sentence = "A CompositeImplicitAutogradNestedTensor kernel serves the NestedTensor "
                        "keys and AutogradNestedTensor.",
            .alias = KW_KEY_CompositeImplicitAutogradNestedTensor,
            .apply = apply_alias,
        },
    [KWI_RULE_AMBIGUOUS] =
        {
            .name = "ambiguous",
            .reason = "ambiguous autogradother",
            .sentence = "AutogradOther reports an ambiguity if there are a "
                        "CompositeImplicitAutograd kernel and a direct kernel of a backend key "
                        "whose tensors carry AutogradOther.",
            .alias = KW_KEY_CompositeImplicitAutograd,
            .apply = apply_ambiguous,
        },
    [KWI_RULE_IMPLICIT] =
        {
            .name = "implicit",
            .reason = "math kernel",
            .sentence = "A CompositeImplicitAutograd kernel serves Undefined, the backend, "
                        "NestedTensor and autograd keys; an autograd key not if its backend has a "
                        "direct kernel, and nothing more beside a CompositeExplicitAutograd "
                        "kernel.",
            .alias = KW_KEY_CompositeImplicitAutograd,
            .apply = apply_implicit,
        },
    [KWI_RULE_AUTOGRAD] =
        {
            .name = "autograd",
            .reason = "autograd kernel",
            .sentence = "A kernel of the alias Autograd serves every autograd key.",
            .alias = KW_KEY_Autograd,
            .apply = apply_alias,
        },
    [KWI_RULE_BATCHED] =
        {
            .name = "batched",
            .reason = "batched kernel",
            .sentence = "A FuncTorchBatchedDecomposition kernel serves FuncTorchBatched.",
            .alias = KW_KEY_FuncTorchBatchedDecomposition,
            .apply = apply_alias,
        },
    [KWI_RULE_FALLBACK] =
        {
            .name = "fallback",
            .reason = "backend fallback",
            .sentence = "The dispatcher's fallback for the key serves every operator that has "
                        "nothing of its own for it.",
            .apply = apply_fallback,
        },
    [KWI_RULE_MISSING] =
        {
            .name = "missing",
            .reason = "missing",
            .sentence = "Anything else reports that no kernel serves the key.",
            .apply = apply_missing,
        },
};

const char *kwi_rule_name(kwi_rule rule)
{
    return rules[rule].name;
}

const char *kwi_rule_reason(kwi_rule rule)
{
    return rules[rule].reason;
}

const char *kwi_rule_sentence(kwi_rule rule)
{
    return rules[rule].sentence;
}

static void sort_candidate(struct resolution *resolution, const kwi_candidate *candidate)
{
    kw_key key = candidate->key;
    int slot = kw_key_slot(key);
    KWI_ASSERT(kw_key_is_valid(key) && key != KW_KEY_Undefined);
    if (kw_key_is_alias(key)) {
        KWI_ASSERT(resolution->by_alias[key - KW_KEY_Autograd] == NULL);
        resolution->by_alias[key - KW_KEY_Autograd] = candidate;
    } else if (slot >= 0) {
        KWI_ASSERT(!kwi_slotset_has(resolution->direct, (unsigned)slot));
        kwi_slotset_add(&resolution->direct, (unsigned)slot);
    } else {
        resolution->bare = kw_keyset_add(resolution->bare, key);
    }
}

void kwi_rules_apply(const kwi_resolve_input *input, kwi_claims *out_claims)
{
    struct resolution resolution = {.input = input, .claims = out_claims};
    out_claims->free = kwi_slotset_full();
    out_claims->fallthrough = kwi_slotset_empty();
    out_claims->count = 0;
    for (size_t i = 0; i < input->kernel_count; i++) {
        sort_candidate(&resolution, &input->kernels[i]);
    }
    for (const struct rule *rule = rules; rule < rules + KWI_RULE_COUNT; rule++) {
        rule->apply(&resolution, rule);
    }
    KWI_ASSERT(kwi_slotset_is_empty(out_claims->free));
}

// Gives the kernel those of the slots that are still free.
static void claim(struct resolution *resolution, const struct rule *rule, kwi_source source,
                  kwi_slotset wanted)
{
    kwi_claims *claims = resolution->claims;
    kwi_slotset slots = kwi_slotset_intersection(wanted, claims->free);
    if (kwi_slotset_is_empty(slots)) {
        return;
    }
    const kwi_candidate candidate = kwi_source_candidate(resolution->input, source);
    KWI_ASSERT(candidate.unboxed == NULL || !candidate.fallthrough);
    claims->free = kwi_slotset_difference(claims->free, slots);
    if (candidate.fallthrough) {
        claims->fallthrough = kwi_slotset_union(claims->fallthrough, slots);
    }
    claims->list[claims->count++] = (kwi_claim){.slots = slots,
                                                .source = source,
                                                .rule = (kwi_rule)(rule - rules),
                                                .fallthrough = candidate.fallthrough};
}

static kwi_source source_of(const struct resolution *resolution, const kwi_candidate *kernel)
{
    return (kwi_source)(KWI_SOURCE_KERNEL + (kernel - resolution->input->kernels));
}

static const kwi_candidate *alias_kernel(const struct resolution *resolution, kw_key alias)
{
    return resolution->by_alias[alias - KW_KEY_Autograd];
}

// Whether a key that shares AutogradOther has a kernel of its own.
static bool other_backend_has_kernel(const struct resolution *resolution)
{
    unsigned first = KWI_SLOT_LAST_Dense + 1;
    unsigned count = KWI_SLOT_LAST_SparseCsr + 1 - first;
    kw_keyset bare_others = {KW_KEYSET_AUTOGRADOTHER_BACKENDS & KW_KEYSET_BUILDING_BLOCKS};
    return kwi_slotset_bits(resolution->direct, first, count) != 0 ||
           kw_keyset_has_any(resolution->bare, bare_others);
}

// The backends that have a kernel for a key of a building block. A kernel registered for the bare
// building block counts for each, because every set with a key of the block has the block.
static uint64_t backends_with_kernel(const struct resolution *resolution, kw_key block)
{
    return kw_keyset_has(resolution->bare, block)
               ? KW_KEYSET_BACKEND_MASK
               : kwi_slotset_bits(resolution->direct, kwi_slot_rules[block].offset,
                                  KW_BACKEND_COUNT);
}

// The slots for which a kernel was registered directly: one, unless a caller shares kernels.
static kwi_slotset direct_slots(const kwi_resolve_input *input, const kw_kernel *kernel)
{
    kwi_slotset slots = kwi_slotset_empty();
    for (size_t i = 0; i < input->kernel_count; i++) {
        int slot = input->kernels[i].kernel == kernel ? kw_key_slot(input->kernels[i].key) : -1;
        if (slot >= 0) {
            kwi_slotset_add(&slots, (unsigned)slot);
        }
    }
    return slots;
}

static void apply_direct(struct resolution *resolution, const struct rule *rule)
{
    const kwi_resolve_input *input = resolution->input;
    for (size_t i = 0; i < input->kernel_count; i++) {
        claim(resolution, rule, (kwi_source)(KWI_SOURCE_KERNEL + i),
              direct_slots(input, input->kernels[i].kernel));
    }
}

static void apply_alias(struct resolution *resolution, const struct rule *rule)
{
    const kwi_candidate *candidate = alias_kernel(resolution, rule->alias);
    if (candidate != NULL) {
        claim(resolution, rule, source_of(resolution, candidate),
              *kwi_slotset_of_alias(rule->alias));
    }
}

static void apply_ambiguous(struct resolution *resolution, const struct rule *rule)
{
    if (alias_kernel(resolution, rule->alias) != NULL && other_backend_has_kernel(resolution)) {
        kwi_slotset slots = kwi_slotset_empty();
        kwi_slotset_add(&slots, KWI_SLOT_AutogradOther);
        claim(resolution, rule, KWI_SOURCE_AMBIGUOUS, slots);
    }
}

static void apply_implicit(struct resolution *resolution, const struct rule *rule)
{
    const kwi_candidate *candidate = alias_kernel(resolution, rule->alias);
    if (candidate == NULL || alias_kernel(resolution, KW_KEY_CompositeExplicitAutograd) != NULL) {
        return;
    }
    // AutogradOther is not among the blocked: what would block it has made it ambiguous.
    kwi_slotset blocked = kwi_slotset_empty();
    kwi_slotset_add_bits(&blocked, KWI_SLOT_AutogradFunctionality,
                         backends_with_kernel(resolution, KW_KEY_Dense) & BLOCKING_BACKENDS);
    if (backends_with_kernel(resolution, KW_KEY_NestedTensor) != 0) {
        kwi_slotset_add(&blocked, KWI_SLOT_AutogradNestedTensor);
    }
    claim(resolution, rule, source_of(resolution, candidate),
          kwi_slotset_difference(*kwi_slotset_of_alias(rule->alias), blocked));
}

static void apply_fallback(struct resolution *resolution, const struct rule *rule)
{
    const kwi_fallbacks *fallbacks = resolution->input->fallbacks;
    for (size_t i = 0; fallbacks != NULL && i < fallbacks->count; i++) {
        claim(resolution, rule, (kwi_source)(KWI_SOURCE_FALLBACK + i), fallbacks->groups[i].slots);
    }
}

static void apply_missing(struct resolution *resolution, const struct rule *rule)
{
    claim(resolution, rule, KWI_SOURCE_MISSING, resolution->claims->free);
}
