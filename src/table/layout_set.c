// Layout sets: one record of a layout, however many tables have it.
//
// Layer:   table
// Threads: a set belongs to whoever holds it.
// SPDX-License-Identifier: MIT

#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "table/layout.h"

// What of a layout counts: not the bytes that only align the next one.
#define LAYOUT_BYTES (offsetof(kwi_layout, entry_at) + KW_SLOT_COUNT * sizeof(uint16_t))

static uint32_t hash_of(const kwi_layout *layout)
{
    // Multiplicative, eight bytes at a time, in four strands that do not wait for each other. Rules
    // do not count: layouts seldom differ in nothing else.
    uint64_t strands[4] = {1, 2, 3, 4};
    const char *bytes = (const char *)layout;
    size_t at = 0;
    for (; at + sizeof strands <= LAYOUT_BYTES; at += sizeof strands) {
        uint64_t words[4];
        memcpy(words, bytes + at, sizeof words);
        for (unsigned i = 0; i < 4; i++) {
            strands[i] = (strands[i] ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
            strands[i] ^= strands[i] >> 32;
        }
    }
    uint64_t rest[4] = {0};
    memcpy(rest, bytes + at, LAYOUT_BYTES - at);
    uint64_t hash = 0;
    for (unsigned i = 0; i < 4; i++) {
        hash = (hash ^ strands[i] ^ rest[i]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return (uint32_t)(hash >> 32);
}

static bool is_of_plan(const kwi_layout_record *record, const kwi_plan *plan)
{
    return record->entry_count == plan->entry_count &&
           memcmp(&record->layout, &plan->layout, LAYOUT_BYTES) == 0 &&
           memcmp(record->rules, plan->rules, plan->entry_count) == 0;
}

bool kwi_layout_equal(const kwi_layout_record *a, const kwi_layout_record *b)
{
    return a == b ||
           (a->entry_count == b->entry_count && memcmp(&a->layout, &b->layout, LAYOUT_BYTES) == 0 &&
            memcmp(a->rules, b->rules, a->entry_count) == 0);
}

static size_t bytes_of(unsigned entry_count)
{
    return offsetof(kwi_layout_record, rules) + entry_count;
}

static kwi_layout_record **chain_of(kwi_layout_set *set, uint32_t hash)
{
    return &set->chains[hash % KWI_LAYOUT_SET_CHAINS];
}

static kwi_layout_record *make(const kwi_plan *plan)
{
    kwi_layout_record *record = kwi_allocate(bytes_of(plan->entry_count));
    if (record != NULL) {
        memcpy(&record->layout, &plan->layout, LAYOUT_BYTES);
        memcpy(record->rules, plan->rules, plan->entry_count);
        record->entry_count = plan->entry_count;
        record->reference_count = 1;
    }
    return record;
}

kwi_layout_record *kwi_layout_get(kwi_layout_set *set, const kwi_plan *plan)
{
    if (set == NULL) {
        return make(plan);
    }
    uint32_t hash = hash_of(&plan->layout);
    kwi_layout_record **chain = chain_of(set, hash);
    for (kwi_layout_record *there = *chain; there != NULL; there = there->next) {
        if (there->hash == hash && is_of_plan(there, plan)) {
            there->reference_count++;
            return there;
        }
    }
    kwi_layout_record *made = make(plan);
    if (made != NULL) {
        made->set = set;
        made->hash = hash;
        made->next = *chain;
        *chain = made;
    }
    return made;
}

void kwi_layout_release(kwi_layout_record *record)
{
    KWI_ASSERT(record->reference_count > 0);
    if (--record->reference_count > 0) {
        return;
    }
    if (record->set != NULL) {
        kwi_layout_record **link = chain_of(record->set, record->hash);
        while (*link != record) {
            link = &(*link)->next;
        }
        *link = record->next;
    }
    kwi_free(record, bytes_of(record->entry_count));
}
