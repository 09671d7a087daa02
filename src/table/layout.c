// Layouts: making them from the claims and the masks, and finding those that were made.
//
// Layer:   table
// Threads: any; pure functions.
// SPDX-License-Identifier: MIT

#include "table/layout.h"

#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "table/claim.h"
#include "table/mask.h"

_Static_assert(KWI_LAYOUTS_MAX <= UINT8_MAX, "a place fits a byte of a chain");
_Static_assert(KW_SLOT_COUNT <= UINT8_MAX, "a count of entries fits a byte");

static uint16_t place_of(unsigned entry)
{
    _Static_assert(offsetof(kw_table, entries) + KW_SLOT_COUNT * sizeof(kw_entry) <= UINT16_MAX,
                   "a place fits");
    return (uint16_t)(offsetof(kw_table, entries) + entry * sizeof(kw_entry));
}

// Every slot, before the others: entry 0 is the one of slot 0, which in most tables has the most.
static void lay_first_place(kwi_layout *layout)
{
    for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
        layout->entry_at[slot] = place_of(0);
    }
}

static void lay_places(kwi_layout *layout, uint8_t entry, const kwi_slotset *slots)
{
    for (unsigned word = 0; word < KWI_SLOTSET_WORDS; word++) {
        for (uint64_t left = slots->words[word]; left != 0; left &= left - 1) {
            layout->entry_at[word * 64 + (unsigned)__builtin_ctzll(left)] = place_of(entry);
        }
    }
}

static void lay_entries(kwi_plan *plan, const kwi_claims *claims)
{
    uint8_t claim_at[KW_SLOT_COUNT]; // meaningful for the lowest slot of each claim
    kwi_slotset lowest_slots = kwi_slotset_empty();
    for (size_t i = 0; i < claims->count; i++) {
        unsigned lowest = kwi_slotset_lowest(claims->list[i].slots);
        claim_at[lowest] = (uint8_t)i;
        kwi_slotset_add(&lowest_slots, lowest);
    }
    lay_first_place(&plan->layout);
    unsigned slot;
    for (uint8_t entry = 0; kwi_slotset_take_lowest(&lowest_slots, &slot); entry++) {
        const kwi_claim *claim = &claims->list[claim_at[slot]];
        plan->sources[entry] = claim->source;
        plan->rules[entry] =
            (uint8_t)(claim->rule | (claim->fallthrough ? KWI_RULE_BYTE_FALLTHROUGH : 0));
        if (entry > 0) {
            lay_places(&plan->layout, entry, &claim->slots);
        }
    }
    plan->entry_count = (uint8_t)claims->count;
}

static void lay_masks(kwi_layout *layout, const kwi_masks *masks)
{
    for (unsigned i = 0; i < masks->count; i++) {
        const struct kwi_mask *mask = &masks->list[i];
        for (unsigned backends = mask->backends; backends != 0; backends &= backends - 1) {
            layout->masks[__builtin_ctz(backends)] = mask->keys;
        }
    }
}

void kwi_plan_make(const kwi_resolve_input *input, kwi_plan *out_plan)
{
    kwi_claims claims;
    kwi_masks masks;
    kwi_rules_apply(input, &claims);
    kwi_masks_make(claims.fallthrough, &masks);
    lay_entries(out_plan, &claims);
    lay_masks(&out_plan->layout, &masks);
}

// Shapes ------------------------------------------------------------------------------------------

static uint16_t shape_of(const kwi_candidate *candidate)
{
    return (uint16_t)(candidate->key << 1 | (candidate->fallthrough ? 1 : 0));
}

static bool has_shape(const kwi_known_layout *known, const kwi_resolve_input *input)
{
    bool is_same = known->kernel_count == input->kernel_count &&
                   known->has_fallbacks == (input->fallbacks != NULL);
    for (size_t i = 0; is_same && i < input->kernel_count; i++) {
        is_same = known->shape[i] == shape_of(&input->kernels[i]);
    }
    return is_same;
}

static uint8_t *chain_of(kwi_layouts *layouts, const kwi_resolve_input *input)
{
    uint32_t hash = input->fallbacks != NULL ? 1 : 0;
    for (size_t i = 0; i < input->kernel_count; i++) {
        hash = (hash ^ shape_of(&input->kernels[i])) * UINT32_C(0x9e3779b1);
    }
    return &layouts->chains[(hash >> 16) % KWI_LAYOUTS_CHAINS];
}

static const kwi_known_layout *learn(kwi_layouts *layouts, const kwi_resolve_input *input,
                                     uint8_t *chain)
{
    kwi_known_layout *known = &layouts->known[layouts->count];
    kwi_plan plan;
    kwi_plan_make(input, &plan);
    known->record = kwi_layout_get(input->layout_set, &plan);
    if (known->record == NULL) {
        return NULL;
    }
    memcpy(known->sources, plan.sources, plan.entry_count * sizeof plan.sources[0]);
    layouts->count++;
    known->next = *chain;
    *chain = (uint8_t)layouts->count;
    known->kernel_count = (uint8_t)input->kernel_count;
    known->has_fallbacks = input->fallbacks != NULL;
    for (size_t i = 0; i < input->kernel_count; i++) {
        known->shape[i] = shape_of(&input->kernels[i]);
    }
    return known;
}

const kwi_known_layout *kwi_layouts_get(kwi_layouts *layouts, const kwi_resolve_input *input)
{
    if (input->kernel_count > KWI_LAYOUTS_KERNELS_MAX) {
        return NULL;
    }
    uint8_t *chain = chain_of(layouts, input);
    for (unsigned at = *chain; at != 0; at = layouts->known[at - 1].next) {
        if (has_shape(&layouts->known[at - 1], input)) {
            return &layouts->known[at - 1];
        }
    }
    return layouts->count < KWI_LAYOUTS_MAX ? learn(layouts, input, chain) : NULL;
}

void kwi_layouts_fini(kwi_layouts *layouts)
{
    while (layouts->count > 0) {
        kwi_layout_release(layouts->known[--layouts->count].record);
    }
}
