// Memory: every allocation of the library, counted, and failing on demand in test builds.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT

#include "base/memory.h"

#include <string.h>

#include <keyway/allocator.h>
#include <keyway/inline/cell.h>

#include "base/allocator.h"

// guard: cell. Relaxed: a statistic, nothing is ordered by it.
static kwi_u64_cell live_bytes;

#ifdef KWI_TESTING

// guard: cell. Relaxed: only their own values matter.
static kwi_u64_cell allocation_count;
static kwi_u64_cell failing_from;
static kwi_u64_cell failing_to;

void kwi_memory_fail_at(uint64_t nth, bool and_after)
{
    uint64_t from = nth == 0 ? 0 : kwi_u64_load_relaxed(&allocation_count) + nth;
    kwi_u64_store_relaxed(&failing_from, from);
    kwi_u64_store_relaxed(&failing_to, and_after ? UINT64_MAX : from);
}

uint64_t kwi_memory_count(void)
{
    return kwi_u64_load_relaxed(&allocation_count);
}

static bool shall_fail(void)
{
    uint64_t number = kwi_u64_add_relaxed(&allocation_count, 1) + 1;
    uint64_t from = kwi_u64_load_relaxed(&failing_from);
    return from != 0 && number >= from && number <= kwi_u64_load_relaxed(&failing_to);
}

#else

static bool shall_fail(void)
{
    return false;
}

#endif

void *kwi_allocate(size_t bytes)
{
    const kw_allocator *allocator = kwi_allocator();
    void *memory = shall_fail() ? NULL : allocator->allocate(bytes, allocator->context);
    if (memory != NULL) {
        memset(memory, 0, bytes);
        kwi_u64_add_relaxed(&live_bytes, bytes);
    }
    return memory;
}

static void *move(const kw_allocator *allocator, void *memory, size_t old_bytes, size_t new_bytes)
{
    void *moved = allocator->allocate(new_bytes, allocator->context);
    if (moved != NULL && memory != NULL) {
        memcpy(moved, memory, old_bytes < new_bytes ? old_bytes : new_bytes);
        allocator->free(memory, old_bytes, allocator->context);
    }
    return moved;
}

void *kwi_reallocate(void *memory, size_t old_bytes, size_t new_bytes)
{
    if (shall_fail()) {
        return NULL;
    }
    const kw_allocator *allocator = kwi_allocator();
    void *moved = memory != NULL && allocator->reallocate != NULL
                      ? allocator->reallocate(memory, old_bytes, new_bytes, allocator->context)
                      : move(allocator, memory, old_bytes, new_bytes);
    if (moved != NULL) {
        kwi_u64_add_relaxed(&live_bytes, new_bytes - old_bytes);
    }
    return moved;
}

void kwi_free(void *memory, size_t bytes)
{
    if (memory != NULL) {
        kwi_u64_add_relaxed(&live_bytes, (uint64_t)0 - bytes);
#ifdef KWI_TESTING
        memset(memory, 0xdd, bytes);                     // a reader that comes too late sees poison
        __asm__ volatile("" : : "r"(memory) : "memory"); // else the compiler leaves it out
#endif
        const kw_allocator *allocator = kwi_allocator();
        allocator->free(memory, bytes, allocator->context);
    }
}

char *kwi_copy_string(const char *text)
{
    if (text == NULL) {
        return NULL;
    }
    size_t bytes = strlen(text) + 1;
    char *copy = kwi_allocate(bytes);
    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

void kwi_free_string(char *text)
{
    if (text != NULL) {
        kwi_free(text, strlen(text) + 1);
    }
}

uint64_t kwi_memory_bytes(void)
{
    return kwi_u64_load_relaxed(&live_bytes);
}

// For extensions of the library ---------------------------------------------------------------

void *kw_memory_allocate(size_t bytes)
{
    return bytes > 0 ? kwi_allocate(bytes) : NULL;
}

void *kw_memory_reallocate(void *memory, size_t old_bytes, size_t new_bytes)
{
    return new_bytes > 0 ? kwi_reallocate(memory, old_bytes, new_bytes) : NULL;
}

void kw_memory_free(void *memory, size_t bytes)
{
    kwi_free(memory, bytes);
}
