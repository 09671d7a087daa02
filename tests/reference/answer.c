// The reference's tables, and what calls through them answer.
//
// Layer:   test
// Threads: any; plain data of the caller.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "reference/state.h"
#include "table/claim.h"
#include "table/mask.h"

// Stand for kernels where rules compare them: one for each place of a registration.
static const kw_kernel identities[REFERENCE_REGISTRATIONS];
static const kw_kernel standard;
static const kw_kernel missing;
static const kw_kernel ambiguous;

static uint16_t mark_of(const reference *state, const kw_kernel *kernel)
{
    if (kernel == &missing || kernel == &ambiguous) {
        return REFERENCE_NOBODY;
    }
    return kernel == &standard ? REFERENCE_STANDARD
                               : state->registrations[kernel - identities].mark;
}

// S31, S81: one candidate for each key, the first in the list.
static size_t collect(const reference *state, unsigned op, kwi_candidate *candidates)
{
    size_t count = 0;
    for (size_t i = 0; i < state->registration_count; i++) {
        const reference_registration *each = &state->registrations[i];
        if (reference_is_of(each, REFERENCE_KERNEL, op) &&
            reference_active_kernel(state, op, (kw_key)each->key) == each) {
            candidates[count++] = (kwi_candidate){
                .kernel = &identities[i],
                .key = (kw_key)each->key,
                .fallthrough = each->form == REFERENCE_FORM_FALLTHROUGH,
            };
        }
    }
    return count;
}

// S34
static kwi_candidate fallback_of(const reference *state, kw_key key)
{
    const reference_registration *fallback = reference_active_fallback(state, key);
    if (fallback != NULL) {
        return (kwi_candidate){
            .kernel = &identities[fallback - state->registrations],
            .key = key,
            .fallthrough = fallback->form == REFERENCE_FORM_FALLTHROUGH,
        };
    }
    return reference_is_standard_key(state, key)
               ? (kwi_candidate){.kernel = &standard, .key = key, .fallthrough = true}
               : (kwi_candidate){0};
}

static void prepare_fallbacks(const reference *state, kwi_fallbacks *fallbacks)
{
    kwi_candidate by_slot[KW_SLOT_COUNT] = {0};
    for (int slot = 1; slot < KW_SLOT_COUNT; slot++) {
        by_slot[slot] = fallback_of(state, kw_key_of_slot(slot));
    }
    kwi_fallbacks_prepare(fallbacks, by_slot);
}

// S41 to S50
static void lay_slots(const reference *state, const kwi_resolve_input *input,
                      const kwi_claims *claims, reference_table *table)
{
    for (size_t i = 0; i < claims->count; i++) {
        const kwi_claim *claim = &claims->list[i];
        reference_slot filled = {
            .mark = mark_of(state, kwi_source_candidate(input, claim->source).kernel),
            .rule = (uint8_t)claim->rule,
            .is_fallthrough = claim->fallthrough,
        };
        kwi_slotset slots = claim->slots;
        for (unsigned slot; kwi_slotset_take_lowest(&slots, &slot);) {
            table->slots[slot] = filled;
        }
        table->has_kernel |= filled.mark != REFERENCE_NOBODY && !filled.is_fallthrough;
    }
}

// S52
static void lay_masks(const kwi_claims *claims, reference_table *table)
{
    kwi_masks masks;
    kwi_masks_make(claims->fallthrough, &masks);
    for (unsigned i = 0; i < masks.count; i++) {
        for (unsigned backend = 0; backend < KW_BACKEND_COUNT; backend++) {
            if ((masks.list[i].backends >> backend & 1) != 0) {
                table->masks[backend] = masks.list[i].keys.bits;
            }
        }
    }
}

void reference_resolve(const reference *state, unsigned op, unsigned entry,
                       reference_table *out_table)
{
    out_table->is_visible = reference_is_visible(state, op) && state->names[op].in_use == entry;
    out_table->is_defined = false;
    out_table->has_kernel = false;
    if (!out_table->is_visible) {
        return;
    }
    kwi_candidate candidates[REFERENCE_REGISTRATIONS];
    kwi_fallbacks fallbacks;
    kwi_claims claims;
    prepare_fallbacks(state, &fallbacks);
    const kwi_resolve_input input = {
        .kernels = candidates,
        .kernel_count = collect(state, op, candidates),
        .fallbacks = &fallbacks,
        .missing = &missing,
        .ambiguous = &ambiguous,
    };
    kwi_rules_apply(&input, &claims);
    const reference_registration *definition = reference_definition(state, op);
    out_table->is_defined = definition != NULL;
    out_table->schema = definition != NULL ? definition->schema : REFERENCE_SCHEMA_NONE;
    out_table->is_signed = state->names[op].signature[entry] != 0;
    lay_slots(state, &input, &claims, out_table);
    lay_masks(&claims, out_table);
}

// Calls ------------------------------------------------------------------------------------------

// S11: ((arguments | included) - excluded) & mask.
static kw_keyset call_keys(const reference_table *table, const reference_operation *operation)
{
    // S58: without a definition nobody knows which arguments of a frame are tensors.
    bool is_read = operation->is_typed || table->is_defined;
    kw_keyset arguments = is_read ? operation->arguments : kw_keyset_empty();
    kw_keyset keys = kw_keyset_union(arguments, operation->included);
    keys = kw_keyset_difference(keys, operation->excluded);
    keys.bits &= table->masks[kw_keyset_backend_number(keys)];
    return keys;
}

// Runs what serves a slot. S59, S60, S61, S67
static void run(const reference_table *table, unsigned slot, kw_keyset keys,
                reference_answer *answer)
{
    const reference_slot *found = &table->slots[slot];
    if (found->rule == KWI_RULE_MISSING) {
        answer->status = !table->has_kernel          ? KW_NO_KERNEL
                         : kw_keyset_slot(keys) == 0 ? KW_NO_TENSOR_ARGUMENTS
                                                     : KW_NO_KERNEL_FOR_KEY;
    } else if (found->rule == KWI_RULE_AMBIGUOUS) {
        answer->status = KW_AMBIGUOUS;
    } else if (found->is_fallthrough) {
        answer->status = KW_FALLTHROUGH_REACHED;
    } else {
        answer->mark = found->mark;
        answer->keys = keys;
    }
}

// S63: the operator's own kernel of exactly the key, else the key's fallback.
static void run_exactly(const reference *state, const reference_table *table,
                        const reference_operation *operation, reference_answer *answer)
{
    kw_keyset keys = call_keys(table, operation);
    int slot = kw_key_slot((kw_key)operation->key);
    reference_slot found = table->slots[slot];
    if (found.rule != KWI_RULE_DIRECT) {
        kwi_candidate fallback = fallback_of(state, (kw_key)operation->key);
        if (fallback.kernel == NULL) {
            answer->status = KW_NO_KERNEL_FOR_KEY;
            return;
        }
        found.mark = mark_of(state, fallback.kernel);
        found.is_fallthrough = fallback.fallthrough;
    }
    answer->status = found.is_fallthrough ? KW_FALLTHROUGH_REACHED : KW_OK;
    answer->mark = found.is_fallthrough ? REFERENCE_NOBODY : found.mark;
    answer->keys = found.is_fallthrough ? kw_keyset_empty() : keys;
}

void reference_call_in(const reference_table *table, const reference_operation *operation,
                       reference_answer *out_answer)
{
    memset(out_answer, 0, sizeof *out_answer);
    // S65. A typed caller got its handle when there was a definition; under a snapshot of before it
    // finds nothing that it could call.
    if (!table->is_visible || (operation->is_typed && !table->is_signed)) {
        out_answer->status = KW_OPERATOR_REMOVED;
    } else if (operation->kind == REFERENCE_REDISPATCH) {
        run(table, kw_keyset_slot(operation->arguments), operation->arguments, out_answer); // S66
    } else {
        kw_keyset keys = call_keys(table, operation);
        run(table, kw_keyset_slot(keys), keys, out_answer);
    }
}

void reference_call_exactly(const reference *state, const reference_operation *operation,
                            reference_answer *answer)
{
    reference_table table;
    reference_resolve(state, operation->op, operation->entry, &table);
    if (kw_key_slot((kw_key)operation->key) < 0) {
        answer->status = KW_ALIAS_KEY;
    } else if (!table.is_visible) {
        answer->status = KW_OPERATOR_REMOVED;
    } else {
        run_exactly(state, &table, operation, answer);
    }
}

// S72: by whatever rule.
void reference_has_computed(const reference *state, const reference_operation *operation,
                            reference_answer *answer)
{
    reference_table table;
    reference_resolve(state, operation->op, operation->entry, &table);
    int slot = kw_key_slot((kw_key)operation->key);
    answer->yes = slot >= 0 && table.is_visible && table.slots[slot].rule != KWI_RULE_MISSING;
}
