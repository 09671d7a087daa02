// The name index: from an operator's name to its newest entry, read without a lock.
//
// Layer:   registry
// Threads: found by any thread inside a section; changed under the writer lock.
// SPDX-License-Identifier: MIT
//
// Linear probing. The hashes lie together, sixteen in a cache line, and are compared first, so a
// look-up touches one entry in most cases, the right one.

#include "registry/name_index.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/schedule.h"
#include "registry/operator.h"
#include "registry/world.h"

#define FIRST_CAPACITY 64

typedef struct name_array {
    kwi_old_array header;
    size_t capacity; // a power of two, of which three quarters are used at most

    // guard: rcu, both. A place's entry is stored with release, its hash before, and loaded with
    // acquire. [pair: name-entry]
    kwi_u32_cell *hashes; // 0: nothing is there
    kwi_ptr_cell entries[];
} name_array;

static size_t array_bytes(size_t capacity)
{
    return sizeof(name_array) + capacity * (sizeof(kwi_ptr_cell) + sizeof(kwi_u32_cell));
}

static name_array *allocate_array(size_t capacity)
{
    name_array *array = kwi_allocate(array_bytes(capacity));
    if (array != NULL) {
        array->header.bytes = array_bytes(capacity);
        array->capacity = capacity;
        array->hashes = (kwi_u32_cell *)(void *)&array->entries[capacity];
    }
    return array;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15); // 2^64 over the golden ratio
    return hash ^ hash >> 32;
}

static uint64_t load_word(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

// Word by word; the last one overlaps the one before.
static uint32_t hash_name(const char *name, size_t length)
{
    uint64_t hash = length;
    if (length < sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, name, length);
        hash = mix(hash, word);
    } else {
        const char *last = name + length - sizeof(uint64_t);
        for (; name < last; name += sizeof(uint64_t)) {
            hash = mix(hash, load_word(name));
        }
        hash = mix(hash, load_word(last));
    }
    // Once more, since the last letters are in the word's high bits, which reach only high ones.
    return (uint32_t)(mix(hash, 0) >> 32) | UINT32_C(1) << 31; // never 0
}

static bool is_named(const kw_operator *op, const char *name, size_t length)
{
    return op->name_length == length && memcmp(op->name, name, length) == 0;
}

// The place of a name, or the free one where it belongs.
static size_t find_place(const name_array *array, const char *name, size_t length, uint32_t hash,
                         kw_operator **out_found)
{
    size_t mask = array->capacity - 1;
    size_t at = hash & mask;
    for (;; at = (at + 1) & mask) {
        // Relaxed: a hash that is not there yet is of an entry that no reader has to find.
        uint32_t there = kwi_u32_load_relaxed(&array->hashes[at]);
        if (there == 0) {
            *out_found = NULL;
            return at;
        }
        if (there == hash) {
            kw_operator *op = kwi_ptr_load_acquire(&array->entries[at]); // [pair: name-entry]
            if (op == NULL || is_named(op, name, length)) {
                *out_found = op;
                return at;
            }
        }
    }
}

static void put_at(name_array *array, size_t at, uint32_t hash, const kw_operator *op)
{
    kwi_u32_store_relaxed(&array->hashes[at], hash); // relaxed: the entry's store publishes it
    kwi_ptr_store_release(&array->entries[at], op);  // [pair: name-entry]
}

bool kwi_name_index_init(kwi_name_index *index)
{
    name_array *array = allocate_array(FIRST_CAPACITY);
    kwi_ptr_store_relaxed(&index->array, array); // relaxed: nobody has the dispatcher yet
    return array != NULL;
}

void kwi_name_index_fini(kwi_name_index *index)
{
    name_array *array = kwi_ptr_load_relaxed(&index->array); // relaxed: nobody has it any more
    if (array != NULL) {
        kwi_free(array, array->header.bytes);
    }
}

kw_operator *kwi_name_index_find(const kwi_name_index *index, const char *name)
{
    const name_array *array = kwi_ptr_load_acquire(&index->array); // [pair: name-array]
    size_t length = strlen(name);
    kw_operator *found;
    (void)find_place(array, name, length, hash_name(name, length), &found);
    return found;
}

static name_array *grow(const name_array *from)
{
    name_array *array = allocate_array(2 * from->capacity);
    for (size_t i = 0; array != NULL && i < from->capacity; i++) {
        // Relaxed, both: written under this lock only.
        uint32_t hash = kwi_u32_load_relaxed(&from->hashes[i]);
        const kw_operator *op = kwi_ptr_load_relaxed(&from->entries[i]);
        if (hash != 0) {
            kw_operator *none;
            size_t at = find_place(array, op->name, op->name_length, hash, &none);
            put_at(array, at, hash, op);
        }
    }
    return array;
}

bool kwi_name_index_put(kwi_name_index *index, kw_operator *op)
{
    name_array *array = kwi_ptr_load_relaxed(&index->array); // relaxed: written under this lock
    uint32_t hash = hash_name(op->name, op->name_length);
    kw_operator *previous;
    size_t at = find_place(array, op->name, op->name_length, hash, &previous);
    KWI_STEP(PUT_INDEX, index);
    if (previous == NULL && 4 * (index->count + 1) > 3 * array->capacity) {
        name_array *larger = grow(array);
        if (larger == NULL) {
            return false;
        }
        put_at(larger, find_place(larger, op->name, op->name_length, hash, &previous), hash, op);
        kwi_ptr_store_release(&index->array, larger); // [pair: name-array]
        kwi_world_defer_array(&array->header);
    } else {
        put_at(array, at, hash, op);
    }
    index->count += previous == NULL ? 1 : 0;
    return true;
}
