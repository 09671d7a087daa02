// Resolution: from a layout and the input to a table, and what tables say.
//
// Layer:   table
// Threads: any; pure but for the allocation.
// SPDX-License-Identifier: MIT

#include "table/resolve.h"

#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "table/layout.h"

static uint8_t *rule_bytes(kw_table *table)
{
    return (uint8_t *)&table->entries[table->entry_count];
}

static uint8_t rule_byte(const kw_table *table, unsigned slot)
{
    KWI_ASSERT(slot < KW_SLOT_COUNT);
    return ((const uint8_t *)&table->entries[table->entry_count])[table->index[slot]];
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

static void lay(kw_table *table, const kwi_layout *layout, const kwi_resolve_input *input)
{
    memcpy(table->mask_at, layout->mask_at, sizeof table->mask_at);
    memcpy(table->index, layout->index, sizeof table->index);
    table->entry_count = layout->entry_count;
    table->mask_count = layout->mask_count;
    for (unsigned i = 0; i < layout->entry_count; i++) {
        const kwi_candidate candidate = kwi_source_candidate(input, layout->sources[i]);
        table->entries[i].function = candidate.unboxed != NULL ? candidate.unboxed : input->box;
        table->entries[i].kernel = candidate.kernel;
    }
    memcpy(rule_bytes(table), layout->rules, layout->entry_count);
    memcpy((char *)table + layout->masks_offset, layout->masks,
           layout->mask_count * sizeof(kw_keyset));
}

static kw_table *make_table(const kwi_layout *layout, const kwi_resolve_input *input)
{
    size_t bytes = layout->masks_offset + layout->mask_count * sizeof(kw_keyset);
    if (input->observer_count > 0) {
        bytes += input->observer_count * sizeof(void *) + layout->entry_count * sizeof(kw_kernel);
    }
    kw_table *table = kwi_allocate(bytes);
    if (table == NULL) {
        return NULL;
    }
    table->block.owner = input->owner;
    table->block.hi = UINT64_MAX;
    table->block.bytes = (uint32_t)bytes;
    table->frame_args = KWI_NO_FRAME;
    table->frame_returns = KWI_NO_FRAME;
    table->definition = input->definition;
    lay(table, layout, input);
    if (input->observer_count > 0) {
        KWI_ASSERT(input->observer_count <= UINT8_MAX);
        table->observer_count = (uint8_t)input->observer_count;
        lay_observers(table, input);
    }
    return table;
}

kw_table *kwi_table_resolve(const kwi_resolve_input *input, kwi_layouts *layouts)
{
    kwi_layout own;
    const kwi_layout *layout = layouts != NULL ? kwi_layouts_get(layouts, input) : NULL;
    if (layout == NULL) {
        kwi_layout_make(input, &own);
        layout = &own;
    }
    return make_table(layout, input);
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
    return (kwi_rule)(rule_byte(table, slot) & KWI_RULE_BYTE_RULE);
}

bool kwi_table_needs_fallback(const kw_table *table, kwi_slotset slots)
{
    unsigned slot;
    while (kwi_slotset_take_lowest(&slots, &slot)) {
        if (kwi_table_rule(table, slot) >= KWI_RULE_FALLBACK) {
            return true;
        }
    }
    return false;
}

bool kwi_table_is_fallthrough(const kw_table *table, unsigned slot)
{
    return (rule_byte(table, slot) & KWI_RULE_BYTE_FALLTHROUGH) != 0;
}
