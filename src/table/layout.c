// Layouts: making them from the claims and the masks, and finding those that were made.
//
// Layer:   table
// Threads: any; pure functions.
// SPDX-License-Identifier: MIT

#include "table/layout.h"

#include <stddef.h>

#include "base/assert.h"
#include "table/claim.h"
#include "table/mask.h"

_Static_assert(KW_SLOT_COUNT <= UINT8_MAX, "an entry's number fits a byte of the index");
_Static_assert(KWI_LAYOUTS_MAX <= UINT8_MAX, "a place fits a byte of a chain");
_Static_assert(offsetof(kw_table, entries) % sizeof(uint64_t) == 0, "masks are counted in words");

// Entry 0 needs no index: it is the one of slot 0, and the index is zeroed. In most tables it has
// the most slots.
static void lay_index(kwi_layout *layout, uint8_t entry, const kwi_slotset *slots)
{
    for (unsigned word = 0; entry != 0 && word < KWI_SLOTSET_WORDS; word++) {
        for (uint64_t left = slots->words[word]; left != 0; left &= left - 1) {
            layout->index[word * 64 + (unsigned)__builtin_ctzll(left)] = entry;
        }
    }
}

static void lay_entries(kwi_layout *layout, const kwi_claims *claims)
{
    uint8_t claim_at[KW_SLOT_COUNT]; // meaningful for the lowest slot of each claim
    kwi_slotset lowest_slots = kwi_slotset_empty();
    for (size_t i = 0; i < claims->count; i++) {
        unsigned lowest = kwi_slotset_lowest(claims->list[i].slots);
        claim_at[lowest] = (uint8_t)i;
        kwi_slotset_add(&lowest_slots, lowest);
    }
    unsigned slot;
    for (uint8_t entry = 0; kwi_slotset_take_lowest(&lowest_slots, &slot); entry++) {
        const kwi_claim *claim = &claims->list[claim_at[slot]];
        layout->sources[entry] = claim->source;
        layout->rules[entry] =
            (uint8_t)(claim->rule | (claim->fallthrough ? KWI_RULE_BYTE_FALLTHROUGH : 0));
        lay_index(layout, entry, &claim->slots);
    }
    layout->entry_count = (uint8_t)claims->count;
}

static const struct kwi_mask *mask_of(const kwi_masks *masks, unsigned backend_number)
{
    const struct kwi_mask *mask = masks->list;
    while ((mask->backends >> backend_number & 1) == 0) {
        mask++;
    }
    return mask;
}

static void lay_masks(kwi_layout *layout, const kwi_masks *masks)
{
    size_t end = offsetof(kw_table, entries) + layout->entry_count * (sizeof(kw_entry) + 1);
    size_t at = (end + sizeof(kw_keyset) - 1) / sizeof(kw_keyset);
    layout->masks_offset = (uint16_t)(at * sizeof(kw_keyset));
    layout->mask_count = 0;
    for (unsigned left = KW_KEYSET_BACKEND_MASK; left != 0; at++) {
        const struct kwi_mask *mask = mask_of(masks, (unsigned)__builtin_ctz(left));
        layout->masks[layout->mask_count++] = mask->keys;
        for (unsigned backends = mask->backends; backends != 0; backends &= backends - 1) {
            layout->mask_at[__builtin_ctz(backends)] = (uint16_t)at;
        }
        left &= ~(unsigned)mask->backends;
    }
}

void kwi_layout_make(const kwi_resolve_input *input, kwi_layout *out_layout)
{
    kwi_claims claims;
    kwi_masks masks;
    *out_layout = (kwi_layout){.entry_count = 0};
    kwi_rules_apply(input, &claims);
    kwi_masks_make(claims.fallthrough, &masks);
    lay_entries(out_layout, &claims);
    lay_masks(out_layout, &masks);
}

// Shapes ------------------------------------------------------------------------------------------

static uint16_t shape_of(const kwi_candidate *candidate)
{
    return (uint16_t)(candidate->key << 1 | (candidate->fallthrough ? 1 : 0));
}

static bool has_shape(const struct kwi_known_layout *known, const kwi_resolve_input *input)
{
    bool is_same = known->kernel_count == input->kernel_count;
    for (size_t i = 0; is_same && i < input->kernel_count; i++) {
        is_same = known->shape[i] == shape_of(&input->kernels[i]);
    }
    return is_same;
}

static uint8_t *chain_of(kwi_layouts *layouts, const kwi_resolve_input *input)
{
    uint32_t hash = 0;
    for (size_t i = 0; i < input->kernel_count; i++) {
        hash = (hash ^ shape_of(&input->kernels[i])) * UINT32_C(0x9e3779b1);
    }
    return &layouts->chains[(hash >> 16) % KWI_LAYOUTS_CHAINS];
}

static const kwi_layout *learn(kwi_layouts *layouts, const kwi_resolve_input *input, uint8_t *chain)
{
    struct kwi_known_layout *known = &layouts->known[layouts->count++];
    known->next = *chain;
    *chain = (uint8_t)layouts->count;
    known->kernel_count = (uint8_t)input->kernel_count;
    for (size_t i = 0; i < input->kernel_count; i++) {
        known->shape[i] = shape_of(&input->kernels[i]);
    }
    kwi_layout_make(input, &known->layout);
    return &known->layout;
}

const kwi_layout *kwi_layouts_get(kwi_layouts *layouts, const kwi_resolve_input *input)
{
    if (input->kernel_count > KWI_LAYOUTS_KERNELS_MAX) {
        return NULL;
    }
    uint8_t *chain = chain_of(layouts, input);
    for (unsigned at = *chain; at != 0; at = layouts->known[at - 1].next) {
        if (has_shape(&layouts->known[at - 1], input)) {
            return &layouts->known[at - 1].layout;
        }
    }
    return layouts->count < KWI_LAYOUTS_MAX ? learn(layouts, input, chain) : NULL;
}
