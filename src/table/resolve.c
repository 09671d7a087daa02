// Resolution: applies the rules and the masks, and lays the result out as a table.
//
// Layer:   table
// Threads: any; pure but for the allocation.
// SPDX-License-Identifier: MIT

#include "table/resolve.h"

#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "table/claim.h"
#include "table/mask.h"

// The rule byte of an entry: the rule, and whether the kernel is a fallthrough.
#define RULE_MASK 0x7f
#define FALLTHROUGH_BIT 0x80

_Static_assert(KW_SLOT_COUNT <= UINT8_MAX, "an entry's number fits a byte of the index");
_Static_assert(offsetof(kw_table, entries) % sizeof(uint64_t) == 0, "masks are counted in words");

static size_t masks_offset(size_t entry_count)
{
    size_t end = offsetof(kw_table, entries) + entry_count * (sizeof(kw_entry) + 1);
    return (end + sizeof(kw_keyset) - 1) / sizeof(kw_keyset) * sizeof(kw_keyset);
}

static uint8_t *rule_bytes(kw_table *table)
{
    return (uint8_t *)&table->entries[table->entry_count];
}

static uint8_t rule_byte(const kw_table *table, unsigned slot)
{
    KWI_ASSERT(slot < KW_SLOT_COUNT);
    return ((const uint8_t *)&table->entries[table->entry_count])[table->index[slot]];
}

// Entry 0 needs no index: it is the one of slot 0, and the memory comes zeroed. In most tables it
// has the most slots.
static void lay_index(kw_table *table, uint8_t entry, const kwi_slotset *slots)
{
    for (unsigned word = 0; entry != 0 && word < KWI_SLOTSET_WORDS; word++) {
        for (uint64_t left = slots->words[word]; left != 0; left &= left - 1) {
            table->index[word * 64 + (unsigned)__builtin_ctzll(left)] = entry;
        }
    }
}

static void lay_entries(kw_table *table, const kwi_claims *claims, kw_function box)
{
    uint8_t claim_at[KW_SLOT_COUNT]; // meaningful for the lowest slot of each claim
    kwi_slotset lowest_slots = kwi_slotset_empty();
    for (size_t i = 0; i < claims->count; i++) {
        unsigned lowest = kwi_slotset_lowest(claims->list[i].slots);
        claim_at[lowest] = (uint8_t)i;
        kwi_slotset_add(&lowest_slots, lowest);
    }
    uint8_t *rules = rule_bytes(table);
    unsigned slot;
    for (uint8_t entry = 0; kwi_slotset_take_lowest(&lowest_slots, &slot); entry++) {
        const kwi_claim *claim = &claims->list[claim_at[slot]];
        table->entries[entry].function = claim->unboxed != NULL ? claim->unboxed : box;
        table->entries[entry].kernel = claim->kernel;
        rules[entry] = (uint8_t)(claim->rule | (claim->fallthrough ? FALLTHROUGH_BIT : 0));
        lay_index(table, entry, &claim->slots);
    }
}

// See Note [Observed tables].
static void lay_observers(kw_table *table, const kwi_resolve_input *input)
{
    const void **observers = (const void **)(uintptr_t)kwi_table_observers(table);
    memcpy(observers, input->observers, input->observer_count * sizeof(void *));
    kw_kernel *stand_ins = (kw_kernel *)(void *)(observers + input->observer_count);
    for (unsigned i = 0; i < table->entry_count; i++) {
        kw_entry *entry = &table->entries[i];
        stand_ins[i].user_data = (void *)(uintptr_t)entry->kernel;
        stand_ins[i].op = entry->kernel->op;
        stand_ins[i].boxed = input->observed;
        stand_ins[i].registration = entry->kernel->registration;
        entry->function = input->box;
        entry->kernel = &stand_ins[i];
    }
}

static const struct kwi_mask *mask_of(const kwi_masks *masks, unsigned backend_number)
{
    const struct kwi_mask *mask = masks->list;
    while ((mask->backends >> backend_number & 1) == 0) {
        mask++;
    }
    return mask;
}

static void lay_masks(kw_table *table, const kwi_masks *masks)
{
    size_t offset = masks_offset(table->entry_count);
    kw_keyset *next = (kw_keyset *)(void *)((char *)table + offset);
    uint16_t at = (uint16_t)(offset / sizeof(kw_keyset));
    for (unsigned left = KW_KEYSET_BACKEND_MASK; left != 0; at++) {
        const struct kwi_mask *mask = mask_of(masks, (unsigned)__builtin_ctz(left));
        *next++ = mask->keys;
        for (unsigned backends = mask->backends; backends != 0; backends &= backends - 1) {
            table->mask_at[__builtin_ctz(backends)] = at;
        }
        left &= ~(unsigned)mask->backends;
    }
}

kw_table *kwi_table_resolve(const kwi_resolve_input *input)
{
    kwi_claims claims;
    kwi_masks masks;
    kwi_rules_apply(input, &claims);
    kwi_masks_make(claims.fallthrough, &masks);
    size_t bytes = masks_offset(claims.count) + masks.count * sizeof(kw_keyset);
    if (input->observer_count > 0) {
        bytes += input->observer_count * sizeof(void *) + claims.count * sizeof(kw_kernel);
    }
    kw_table *table = kwi_allocate(bytes);
    if (table == NULL) {
        return NULL;
    }
    table->block.owner = input->owner;
    table->block.hi = UINT64_MAX;
    table->block.bytes = (uint32_t)bytes;
    table->entry_count = (uint8_t)claims.count;
    table->mask_count = (uint8_t)masks.count;
    table->frame_args = KWI_NO_FRAME;
    table->frame_returns = KWI_NO_FRAME;
    table->definition = input->definition;
    lay_entries(table, &claims, input->box);
    lay_masks(table, &masks);
    if (input->observer_count > 0) {
        KWI_ASSERT(input->observer_count <= UINT8_MAX);
        table->observer_count = (uint8_t)input->observer_count;
        lay_observers(table, input);
    }
    return table;
}

void kwi_table_destroy(kw_table *table)
{
    if (table != NULL) {
        kwi_free(table, table->block.bytes);
    }
}

// Both have observers and the same size.
static bool equal_observed(const kw_table *a, const kw_table *b)
{
    size_t head = offsetof(kw_table, entries) - sizeof(kwi_block);
    if (memcmp(&a->block + 1, &b->block + 1, head) != 0) {
        return false;
    }
    for (unsigned i = 0; i < a->entry_count; i++) {
        const kw_entry *one = &a->entries[i];
        const kw_entry *other = &b->entries[i];
        if (one->function != other->function ||
            one->kernel->user_data != other->kernel->user_data) {
            return false;
        }
    }
    const char *rules = (const char *)&a->entries[a->entry_count];
    const char *end = (const char *)(kwi_table_observers(a) + a->observer_count);
    return memcmp(rules, &b->entries[b->entry_count], (size_t)(end - rules)) == 0;
}

bool kwi_table_equal(const kw_table *a, const kw_table *b)
{
    if (a->block.bytes != b->block.bytes) {
        return false;
    }
    if (a->observer_count > 0 && b->observer_count > 0) {
        return equal_observed(a, b);
    }
    return memcmp(&a->block + 1, &b->block + 1, a->block.bytes - sizeof(kwi_block)) == 0;
}

kwi_rule kwi_table_rule(const kw_table *table, unsigned slot)
{
    return (kwi_rule)(rule_byte(table, slot) & RULE_MASK);
}

bool kwi_table_is_fallthrough(const kw_table *table, unsigned slot)
{
    return (rule_byte(table, slot) & FALLTHROUGH_BIT) != 0;
}
