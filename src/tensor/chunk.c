// Chunks: slots for the bodies of tensors, in mapped pages.
//
// Layer:   tensor
// Threads: any, under the leaf lock where a function says so.
// SPDX-License-Identifier: MIT

#include "tensor/chunk.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#include "tensor/pages.h"

#define CHUNK_BYTES ((size_t)1 << 20)
#define SLOT_BYTES sizeof(kw_tensor)
#define SLOT_COUNT ((uint32_t)(CHUNK_BYTES / SLOT_BYTES) - 1)

// guard: lock leaf, all of it.
struct kwi_chunk {
    kwi_chunk *next; // in the list of open chunks, or of those to be unmapped
    kwi_chunk *previous;
    kw_tensor *free;
    uint32_t free_count;
    uint32_t fresh_index; // slots given at least once
};

static_assert(sizeof(kwi_chunk) <= SLOT_BYTES, "the header takes the place of one slot");

// guard: lock leaf.
static kwi_chunk *open_chunks;
static kwi_chunk *spare_chunk; // an open one without a slot in use; NULL: there is none
static uint64_t given_count;
static uint64_t touched_slots; // headers among them

// Slots -----------------------------------------------------------------------------------------

static kw_tensor **link_of(kw_tensor *slot)
{
    int64_t *word = &slot->shape.words[2 * KW_TENSOR_INLINE_DIM - 1];
    return (kw_tensor **)(void *)word;
}

void kwi_slots_push(kwi_slots *slots, kw_tensor *slot)
{
    *link_of(slot) = slots->first;
    slots->first = slot;
    slots->count++;
}

kw_tensor *kwi_slots_pop(kwi_slots *slots)
{
    kw_tensor *slot = slots->first;
    slots->first = *link_of(slot);
    slots->count--;
    return slot;
}

// Chunks ----------------------------------------------------------------------------------------

static kwi_chunk *chunk_of(kw_tensor *slot)
{
    return (kwi_chunk *)(void *)((unsigned char *)slot - (uintptr_t)slot % CHUNK_BYTES);
}

static bool is_full(const kwi_chunk *chunk)
{
    return chunk->free_count == 0 && chunk->fresh_index == SLOT_COUNT;
}

static bool is_unused(const kwi_chunk *chunk)
{
    return chunk->free_count == chunk->fresh_index;
}

static void open_chunk(kwi_chunk *chunk)
{
    chunk->previous = NULL;
    chunk->next = open_chunks;
    if (open_chunks != NULL) {
        open_chunks->previous = chunk;
    }
    open_chunks = chunk;
}

static void close_chunk(kwi_chunk *chunk)
{
    if (chunk->previous != NULL) {
        chunk->previous->next = chunk->next;
    } else {
        open_chunks = chunk->next;
    }
    if (chunk->next != NULL) {
        chunk->next->previous = chunk->previous;
    }
}

kwi_chunk *kwi_chunk_map(void)
{
    return kwi_pages_map(CHUNK_BYTES);
}

void kwi_chunks_add(kwi_chunk *chunk)
{
    touched_slots += 1;
    open_chunk(chunk);
}

void kwi_chunks_unmap(kwi_chunk *chunks)
{
    for (kwi_chunk *next; chunks != NULL; chunks = next) {
        next = chunks->next;
        kwi_pages_unmap(chunks, CHUNK_BYTES);
    }
}

static kw_tensor *give(kwi_chunk *chunk)
{
    if (chunk == spare_chunk) {
        spare_chunk = NULL;
    }
    if (chunk->free_count > 0) {
        kwi_slots slots = {chunk->free, chunk->free_count};
        kw_tensor *slot = kwi_slots_pop(&slots);
        chunk->free = slots.first;
        chunk->free_count = slots.count;
        return slot;
    }
    touched_slots++;
    unsigned char *base = (unsigned char *)chunk;
    return (kw_tensor *)(void *)(base + ++chunk->fresh_index * SLOT_BYTES);
}

void kwi_chunks_give(kwi_slots *slots, uint32_t count)
{
    for (uint32_t i = 0; i < count && open_chunks != NULL; i++) {
        kwi_chunk *chunk = open_chunks;
        kwi_slots_push(slots, give(chunk));
        given_count++;
        if (is_full(chunk)) {
            close_chunk(chunk);
        }
    }
}

// Takes one slot back; the chunk, if it can go.
static kwi_chunk *take_back(kw_tensor *slot)
{
    kwi_chunk *chunk = chunk_of(slot);
    if (is_full(chunk)) {
        open_chunk(chunk);
    }
    kwi_slots slots = {chunk->free, chunk->free_count};
    kwi_slots_push(&slots, slot);
    chunk->free = slots.first;
    chunk->free_count = slots.count;
    given_count--;
    if (!is_unused(chunk)) {
        return NULL;
    }
    if (spare_chunk == NULL) {
        spare_chunk = chunk;
        return NULL;
    }
    close_chunk(chunk);
    touched_slots -= chunk->fresh_index + 1;
    return chunk;
}

kwi_chunk *kwi_chunks_take_back(kwi_slots *slots)
{
    kwi_chunk *unneeded = NULL;
    while (slots->count > 0) {
        kwi_chunk *chunk = take_back(kwi_slots_pop(slots));
        if (chunk != NULL) {
            chunk->next = unneeded;
            unneeded = chunk;
        }
    }
    return unneeded;
}

uint64_t kwi_chunks_given(void)
{
    return given_count;
}

uint64_t kwi_chunks_bytes(void)
{
    return touched_slots * SLOT_BYTES;
}
