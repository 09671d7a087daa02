// Vectors: growing arrays of pointers and of 64-bit words.
//
// Layer:   base
// Threads: a vector is guarded by whoever holds it.
// SPDX-License-Identifier: MIT

#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define FIRST_CAPACITY 8

// Both vectors hold 8-byte items, so one function grows both.
static bool grow(void **items, size_t count, size_t *capacity, size_t more)
{
    _Static_assert(sizeof(void *) == sizeof(uint64_t), "pointers and words are of one size");
    if (*capacity - count >= more) {
        return true;
    }
    size_t wanted = *capacity == 0 ? FIRST_CAPACITY : *capacity * 2;
    if (wanted < count + more) {
        wanted = count + more; // who adds many at once asks for as many
    }
    void *moved = kwi_reallocate(*items, *capacity * sizeof(void *), wanted * sizeof(void *));
    if (moved == NULL) {
        return false;
    }
    *items = moved;
    *capacity = wanted;
    return true;
}

bool kwi_pointers_reserve(kwi_pointers *vector, size_t more)
{
    void *items = vector->items;
    if (!grow(&items, vector->count, &vector->capacity, more)) {
        return false;
    }
    vector->items = items;
    return true;
}

bool kwi_pointers_add(kwi_pointers *vector, void *item)
{
    if (!kwi_pointers_reserve(vector, 1)) {
        return false;
    }
    vector->items[vector->count++] = item;
    return true;
}

void kwi_pointers_insert(kwi_pointers *vector, size_t at, void *item)
{
    memmove(vector->items + at + 1, vector->items + at, (vector->count - at) * sizeof(void *));
    vector->items[at] = item;
    vector->count++;
}

void kwi_pointers_remove(kwi_pointers *vector, size_t at)
{
    vector->count--;
    memmove(vector->items + at, vector->items + at + 1, (vector->count - at) * sizeof(void *));
}

void kwi_pointers_fini(kwi_pointers *vector)
{
    kwi_free(vector->items, vector->capacity * sizeof(void *));
    *vector = (kwi_pointers){0};
}

bool kwi_words_add(kwi_words *vector, uint64_t word)
{
    void *items = vector->items;
    if (!grow(&items, vector->count, &vector->capacity, 1)) {
        return false;
    }
    vector->items = items;
    vector->items[vector->count++] = word;
    return true;
}

static int compare_words(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

void kwi_words_sort(kwi_words *vector)
{
    if (vector->count > 1) {
        qsort(vector->items, vector->count, sizeof(uint64_t), compare_words);
    }
}

size_t kwi_words_lower_bound(const kwi_words *vector, uint64_t word)
{
    size_t low = 0;
    size_t high = vector->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (vector->items[middle] < word) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool kwi_words_has(const kwi_words *vector, uint64_t word)
{
    size_t at = kwi_words_lower_bound(vector, word);
    return at < vector->count && vector->items[at] == word;
}

void kwi_words_fini(kwi_words *vector)
{
    kwi_free(vector->items, vector->capacity * sizeof(uint64_t));
    *vector = (kwi_words){0};
}
