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

unsigned kwi_table_entry_number(const kw_table *table, unsigned slot)
{
    KWI_ASSERT(slot < KW_SLOT_COUNT);
    return (unsigned)(kwi_table_entry(table, slot) - table->entries);
}

static uint8_t rule_byte(const kw_table *table, unsigned slot)
{
    return kwi_layout_record_of(table)->rules[kwi_table_entry_number(table, slot)];
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

static void lay(kw_table *table, const kwi_source *sources, const kwi_resolve_input *input)
{
    for (unsigned i = 0; i < table->entry_count; i++) {
        const kwi_candidate candidate = kwi_source_candidate(input, sources[i]);
        table->entries[i].function = candidate.unboxed != NULL ? candidate.unboxed : input->box;
        table->entries[i].kernel = candidate.kernel;
    }
}

// Takes the caller's reference to the layout if there is memory for the table.
static kw_table *make_table(kwi_layout_record *take_record, const kwi_source *sources,
                            const kwi_resolve_input *input)
{
    size_t entry_count = take_record->entry_count;
    size_t bytes = offsetof(kw_table, entries) + entry_count * sizeof(kw_entry);
    if (input->observer_count > 0) {
        bytes += input->observer_count * sizeof(void *) + entry_count * sizeof(kw_kernel);
    }
    kw_table *table = kwi_allocate(bytes);
    if (table == NULL) {
        return NULL;
    }
    table->block.owner = input->owner;
    table->block.hi = UINT64_MAX;
    table->block.bytes = (uint32_t)bytes;
    table->layout = &take_record->layout;
    table->entry_count = (uint8_t)entry_count;
    table->frame_args = KWI_NO_FRAME;
    table->frame_returns = KWI_NO_FRAME;
    table->definition = input->definition;
    lay(table, sources, input);
    if (input->observer_count > 0) {
        KWI_ASSERT(input->observer_count <= UINT8_MAX);
        table->observer_count = (uint8_t)input->observer_count;
        lay_observers(table, input);
    }
    return table;
}

static kw_table *resolve_alone(const kwi_resolve_input *input)
{
    kwi_plan plan;
    kwi_plan_make(input, &plan);
    kwi_layout_record *record = kwi_layout_get(input->layout_set, &plan);
    if (record == NULL) {
        return NULL;
    }
    kw_table *table = make_table(record, plan.sources, input);
    if (table == NULL) {
        kwi_layout_release(record);
    }
    return table;
}

kw_table *kwi_table_resolve(const kwi_resolve_input *input, kwi_layouts *layouts)
{
    const kwi_known_layout *known = layouts != NULL ? kwi_layouts_get(layouts, input) : NULL;
    if (known == NULL) {
        return resolve_alone(input);
    }
    kw_table *table = make_table(known->record, known->sources, input);
    if (table != NULL) {
        known->record->reference_count++;
    }
    return table;
}

void kwi_table_destroy(kw_table *table)
{
    if (table != NULL) {
        kwi_layout_release(kwi_layout_record_of(table));
        kwi_free(table, table->block.bytes);
    }
}

// What the tables say besides their layouts, up to the entries, is the same.
static bool has_equal_head(const kw_table *a, const kw_table *b)
{
    return a->definition == b->definition && a->visible == b->visible &&
           a->observer_count == b->observer_count && a->frame_args == b->frame_args &&
           a->frame_returns == b->frame_returns &&
           kwi_layout_equal(kwi_layout_record_of(a), kwi_layout_record_of(b));
}

static bool has_equal_observed(const kw_table *a, const kw_table *b)
{
    for (unsigned i = 0; i < a->entry_count; i++) {
        const kw_entry *one = &a->entries[i];
        const kw_entry *other = &b->entries[i];
        if (one->function != other->function ||
            one->kernel->user_data != other->kernel->user_data) {
            return false;
        }
    }
    return memcmp(kwi_table_observers(a), kwi_table_observers(b),
                  a->observer_count * sizeof(void *)) == 0;
}

bool kwi_table_equal(const kw_table *a, const kw_table *b)
{
    if (!has_equal_head(a, b)) {
        return false;
    }
    return a->observer_count > 0
               ? has_equal_observed(a, b)
               : memcmp(a->entries, b->entries, a->entry_count * sizeof(kw_entry)) == 0;
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
