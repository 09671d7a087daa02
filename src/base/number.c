// Numbers: 32 bits in the place of a pointer, where many records name one of few things.
//
// Layer:   base
// Threads: giving and taking back under `lock texts`.
// SPDX-License-Identifier: MIT

#include "base/number.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/memory.h"

#define FIRST_CHUNK_BITS 6
#define CHUNK_COUNT (32 - FIRST_CHUNK_BITS)

// Things lie in chunks, each twice as large as the one before, so that none moves when there are
// more. A free place holds the next free number.
typedef union place {
    void *thing;
    uintptr_t next_free;
} place;

// guard: lock texts for changes. A chunk and a place are written before the number that leads there
// is given, and readers have the number from whoever was given it: nothing else orders them.
static place *chunks[CHUNK_COUNT];

// guard: lock texts.
static uint32_t first_free;  // 0: none
static uint32_t given_count; // in use
static uint32_t used_count;  // in use or free

static size_t chunk_size(unsigned chunk)
{
    return (size_t)1 << (FIRST_CHUNK_BITS + chunk);
}

// Numbers count from 1. With the first chunk's size added, the highest bit names the chunk.
static place *place_of(uint32_t number)
{
    uint64_t at = (uint64_t)number - 1 + chunk_size(0);
    unsigned chunk = 63U - (unsigned)__builtin_clzll(at) - FIRST_CHUNK_BITS;
    return &chunks[chunk][at - chunk_size(chunk)];
}

// Whether there is a chunk for the next new number.
static bool make_room(void)
{
    uint64_t at = (uint64_t)used_count + chunk_size(0);
    unsigned chunk = 63U - (unsigned)__builtin_clzll(at) - FIRST_CHUNK_BITS;
    if (chunk < CHUNK_COUNT && chunks[chunk] == NULL) {
        chunks[chunk] = kwi_allocate(chunk_size(chunk) * sizeof(place));
    }
    return chunk < CHUNK_COUNT && chunks[chunk] != NULL;
}

uint32_t kwi_number_give(void *thing)
{
    KWI_ASSERT(thing != NULL);
    uint32_t number = first_free;
    if (number != 0) {
        first_free = (uint32_t)place_of(number)->next_free;
    } else if (make_room()) {
        number = ++used_count;
    } else {
        return 0;
    }
    place_of(number)->thing = thing;
    given_count++;
    return number;
}

// Without numbers in use there is no memory in use either.
static void free_chunks(void)
{
    for (unsigned i = 0; i < CHUNK_COUNT; i++) {
        kwi_free(chunks[i], chunk_size(i) * sizeof(place));
        chunks[i] = NULL;
    }
    first_free = 0;
    used_count = 0;
}

void kwi_number_take_back(uint32_t number)
{
    KWI_ASSERT(number != 0 && number <= used_count);
    if (--given_count == 0) {
        free_chunks();
        return;
    }
    place_of(number)->next_free = first_free;
    first_free = number;
}

void *kwi_number_thing(uint32_t number)
{
    return number != 0 ? place_of(number)->thing : NULL;
}
