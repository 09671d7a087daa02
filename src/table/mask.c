// Masks: made by splitting the set of all backends wherever their fallthroughs differ.
//
// Layer:   table
// Threads: any; pure functions.
// SPDX-License-Identifier: MIT

#include "table/mask.h"

// Functionalities with one slot each, in runs where slots and functionalities go up together.
struct run {
    uint8_t first_slot;
    uint8_t count;
    uint8_t first_functionality;
};

static const struct run single_runs[] = {
#define RUN(first, last)                                                                           \
    {                                                                                              \
        KWI_SLOT_##first, KW_KEY_##last - KW_KEY_##first + 1, KW_KEY_##first                       \
    }
    RUN(FPGA, Metal),
    RUN(CustomRNGKeyId, MkldnnCPU),
    RUN(BackendSelect, AutogradOther),
    RUN(AutogradNestedTensor, PythonDispatcher),
#undef RUN
};

static const uint8_t blocks[] = {
#define BLOCK(name, functionality, marker) functionality,
    KW_BUILDING_BLOCK_LIST(BLOCK)
#undef BLOCK
};

static uint64_t single_functionalities(kwi_slotset slots)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof single_runs / sizeof single_runs[0]; i++) {
        const struct run *run = &single_runs[i];
        bits |= kwi_slotset_bits(slots, run->first_slot, run->count)
                << (KW_BACKEND_COUNT - 1 + run->first_functionality);
    }
    return bits;
}

// Takes the functionality out of the masks of these backends.
static void split(kwi_masks *masks, uint16_t backends, kw_key functionality)
{
    unsigned count = masks->count;
    for (unsigned i = 0; i < count; i++) {
        struct kwi_mask *mask = &masks->list[i];
        uint16_t leaving = mask->backends & backends;
        if (leaving == 0) {
            continue;
        }
        if (leaving != mask->backends) {
            struct kwi_mask *staying = &masks->list[masks->count++];
            staying->keys = mask->keys;
            staying->backends = mask->backends & (uint16_t)~backends;
            mask->backends = leaving;
        }
        mask->keys = kw_keyset_remove(mask->keys, functionality);
    }
}

void kwi_masks_make(kwi_slotset fallthrough, kwi_masks *out_masks)
{
    out_masks->count = 1;
    out_masks->list[0].keys.bits = KW_KEYSET_FULL & ~single_functionalities(fallthrough);
    out_masks->list[0].backends = KW_KEYSET_BACKEND_MASK;
    for (size_t i = 0; i < sizeof blocks; i++) {
        unsigned first_slot = kwi_slot_rules[blocks[i]].offset;
        split(out_masks, (uint16_t)kwi_slotset_bits(fallthrough, first_slot, KW_BACKEND_COUNT),
              blocks[i]);
    }
}
