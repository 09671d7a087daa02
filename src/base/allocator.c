// The allocator: malloc, or what the embedder has set.
//
// Layer:   base
// Threads: any; decided once.
// SPDX-License-Identifier: MIT

#include "base/allocator.h"

#include <stdlib.h>

#include <keyway/inline/cell.h>

#include "base/options.h"
#include "base/text.h"

static void *allocate_by_malloc(size_t bytes, void *context)
{
    (void)context;
    return malloc(bytes);
}

static void *reallocate_by_malloc(void *memory, size_t old_bytes, size_t new_bytes, void *context)
{
    (void)old_bytes;
    (void)context;
    return realloc(memory, new_bytes);
}

static void free_by_malloc(void *memory, size_t bytes, void *context)
{
    (void)bytes;
    (void)context;
    free(memory);
}

static const kw_allocator by_malloc = {
    .struct_size = sizeof by_malloc,
    .allocate = allocate_by_malloc,
    .reallocate = reallocate_by_malloc,
    .free = free_by_malloc,
};

// guard: immutable. Written by the one who has claimed it, before it is chosen.
static kw_allocator by_embedder;

// guard: cell. 1 once somebody has begun to set an allocator. Relaxed: `chosen` orders the rest.
static kwi_u32_cell is_claimed;

// guard: cell. NULL until it is decided, then one of the two above. [pair: allocator]
static kwi_ptr_cell chosen;

static const kw_allocator *decide(const kw_allocator *wanted)
{
    void *decided = NULL;
    // [pair: allocator] release publishes the copy; acquire, if somebody was faster.
    return kwi_ptr_compare_exchange_release_acquire(&chosen, &decided, (void *)(uintptr_t)wanted)
               ? wanted
               : decided;
}

const kw_allocator *kwi_allocator(void)
{
    const kw_allocator *allocator = kwi_ptr_load_acquire(&chosen); // [pair: allocator]
    return allocator != NULL ? allocator : decide(&by_malloc);
}

// Whether the caller is the one who may set it.
static bool claim(void)
{
    uint32_t unclaimed = 0;
    // [pair: allocator] acquire, though there is nothing yet to see.
    return kwi_u32_compare_exchange_acquire_relaxed(&is_claimed, &unclaimed, 1);
}

kw_status kw_allocator_set(const kw_allocator *allocator, kw_error *err)
{
    kw_status status = kwi_options_check(allocator, sizeof *allocator, "kw_allocator", err);
    if (status != KW_OK) {
        return status;
    }
    if (allocator->allocate == NULL || allocator->free == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "an allocator needs functions to allocate and to free");
    }
    const void *decided = kwi_ptr_load_acquire(&chosen); // [pair: allocator]
    if (decided == NULL && claim()) {
        by_embedder = *allocator;
        decided = decide(&by_embedder);
        if (decided == &by_embedder) {
            return KW_OK;
        }
    }
    return kwi_fail(
        err, KW_BUSY,
        decided == &by_malloc
            ? "the library has taken memory from malloc already; set the allocator first"
            : "an allocator is set already");
}
