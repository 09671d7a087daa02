// Vectors: growing arrays of pointers and of 64-bit words.
//
// Layer:   base
// Threads: a vector is guarded by whoever holds it.
// SPDX-License-Identifier: MIT

#ifndef KWI_BASE_VECTOR_H
#define KWI_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A zeroed vector is empty and valid.

typedef struct kwi_pointers {
    void **items;
    size_t count;
    size_t capacity;
} kwi_pointers;

typedef struct kwi_words {
    uint64_t *items;
    size_t count;
    size_t capacity;
} kwi_words;

// False: no memory; the vector is as before.
bool kwi_pointers_reserve(kwi_pointers *vector, size_t more);
bool kwi_pointers_add(kwi_pointers *vector, void *item);
void kwi_pointers_insert(kwi_pointers *vector, size_t at, void *item); // room was reserved
void kwi_pointers_remove(kwi_pointers *vector, size_t at);
void kwi_pointers_fini(kwi_pointers *vector);

bool kwi_words_add(kwi_words *vector, uint64_t word);
void kwi_words_sort(kwi_words *vector);
// Index of the first word that is not less than `word`; the vector is sorted.
size_t kwi_words_lower_bound(const kwi_words *vector, uint64_t word);
bool kwi_words_has(const kwi_words *vector, uint64_t word);
void kwi_words_fini(kwi_words *vector);

#endif // KWI_BASE_VECTOR_H
