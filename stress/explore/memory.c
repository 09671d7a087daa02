// Memory: the allocator under exploration, which repeats addresses and never reuses one.
//
// Layer:   stress
// Threads: any, one at a time.
// SPDX-License-Identifier: MIT

#include "explore/memory.h"

#include <stdint.h>
#include <string.h>

#include <keyway/allocator.h>

#include "explore/engine.h"

#define ARENA_BYTES ((size_t)4 << 20)
#define PIECE_COUNT 8192
#define ALIGNMENT 64 // lines of the cache, for blocks that want them
#define PATTERN 0xdd

typedef struct piece {
    uint32_t start; // in the arena
    uint32_t bytes;
    bool is_alive;
} piece;

typedef struct arena {
    _Alignas(ALIGNMENT) unsigned char bytes[ARENA_BYTES];
    size_t used;
    piece pieces[PIECE_COUNT];
    size_t piece_count;
} arena;

// One for each thread, one for the main thread, one for what is kept.
#define MAIN_ARENA EXPLORE_THREADS
#define KEPT_ARENA (EXPLORE_THREADS + 1)
static arena arenas[EXPLORE_THREADS + 2];
static bool keeps_all;
static size_t alive_count;

static arena *own_arena(void)
{
    unsigned self = explore_self();
    return &arenas[keeps_all ? KEPT_ARENA : self < EXPLORE_THREADS ? self : MAIN_ARENA];
}

static void *allocate(size_t bytes, void *context)
{
    (void)context;
    arena *in = own_arena();
    size_t rounded = (bytes / ALIGNMENT + 1) * ALIGNMENT; // no two pieces begin at one place
    if (in->used + rounded > ARENA_BYTES || in->piece_count == PIECE_COUNT) {
        explore_fail("memory", "an arena is full: the case is not a small one");
    }
    in->pieces[in->piece_count++] = (piece){(uint32_t)in->used, (uint32_t)bytes, true};
    void *memory = in->bytes + in->used;
    in->used += rounded;
    alive_count += in != &arenas[KEPT_ARENA];
    return memory;
}

// The piece with an address, or NULL.
static piece *find(const void *address, arena **out_arena)
{
    for (size_t i = 0; i < sizeof arenas / sizeof *arenas; i++) {
        uintptr_t at = (uintptr_t)address - (uintptr_t)arenas[i].bytes;
        if (at >= arenas[i].used) {
            continue;
        }
        size_t low = 0;
        for (size_t high = arenas[i].piece_count; high - low > 1;) {
            size_t middle = low + (high - low) / 2;
            *(arenas[i].pieces[middle].start <= at ? &low : &high) = middle;
        }
        *out_arena = &arenas[i];
        return &arenas[i].pieces[low];
    }
    return NULL;
}

static void release(void *memory, size_t bytes, void *context)
{
    (void)context;
    arena *in = NULL;
    piece *freed = find(memory, &in);
    if (freed == NULL || !freed->is_alive || in->bytes + freed->start != memory ||
        freed->bytes != bytes) {
        explore_fail("memory", "something is freed twice, or was never allocated");
    }
    explore_touch(in->bytes + freed->start, true);
    freed->is_alive = false;
    memset(memory, PATTERN, bytes);
    alive_count -= in != &arenas[KEPT_ARENA];
}

void explore_memory_install(void)
{
    static const kw_allocator allocator = {
        .struct_size = sizeof allocator, .allocate = allocate, .free = release};
    if (kw_allocator_set(&allocator, NULL) != KW_OK) {
        explore_fail("memory", "the allocator cannot be set");
    }
}

void explore_memory_keep(bool keeps)
{
    keeps_all = keeps;
}

void explore_memory_begin(void)
{
    for (size_t i = 0; i < KEPT_ARENA; i++) {
        arenas[i].used = 0;
        arenas[i].piece_count = 0;
    }
    alive_count = 0;
}

size_t explore_memory_count(void)
{
    return alive_count;
}

bool explore_memory_is_alive(const void *address)
{
    arena *in = NULL;
    const piece *found = find(address, &in);
    return found == NULL || found->is_alive;
}

void explore_touch_memory(const void *object)
{
    arena *in = NULL;
    const piece *found = find(object, &in);
    if (found != NULL && !found->is_alive) {
        explore_fail("freed", "a thread uses memory that is freed");
    }
    explore_touch(found != NULL ? in->bytes + found->start : object, false);
}
