// The heap: the embedder's allocator of the driver, which fails for threads that want it to.
//
// Layer:   stress
// Threads: see heap.h.
// SPDX-License-Identifier: MIT

#include "driver/heap.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <keyway/allocator.h>

#include "driver/report.h"
#include "driver/worker.h"

#define BURST_ONE_IN 8 // failures that begin a burst
#define BURST_LIMIT 30

typedef struct habits {
    uint32_t one_in; // 0: nothing fails
    uint32_t random;
    uint32_t burst; // further ones that fail
    unsigned holds;
    bool refuses_maps;
    uint64_t failures;
} habits;

static _Thread_local habits me;
static atomic_bool is_exhausted;
static _Atomic uint64_t live_bytes;
static _Atomic uint64_t live_pieces;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)((uint64_t)stress_random_step(&me.random) * limit >> 32);
}

static bool shall_fail(void)
{
    if (me.one_in == 0 || me.holds > 0) {
        return false;
    }
    bool fails = atomic_load_explicit(&is_exhausted, memory_order_relaxed) || me.burst > 0 ||
                 below(me.one_in) == 0;
    if (me.burst > 0) {
        me.burst--;
    } else if (fails && below(BURST_ONE_IN) == 0) {
        me.burst = below(BURST_LIMIT);
    }
    me.failures += fails ? 1 : 0;
    return fails;
}

static void *heap_allocate(size_t bytes, void *context)
{
    (void)context;
    void *memory = shall_fail() ? NULL : malloc(bytes);
    if (memory != NULL) {
        atomic_fetch_add_explicit(&live_bytes, bytes, memory_order_relaxed);
        atomic_fetch_add_explicit(&live_pieces, 1, memory_order_relaxed);
    }
    return memory;
}

static void *heap_reallocate(void *memory, size_t old_bytes, size_t new_bytes, void *context)
{
    (void)context;
    void *moved = shall_fail() ? NULL : realloc(memory, new_bytes);
    if (moved != NULL) {
        atomic_fetch_add_explicit(&live_bytes, new_bytes - old_bytes, memory_order_relaxed);
    }
    return moved;
}

static void heap_free(void *memory, size_t bytes, void *context)
{
    (void)context;
    atomic_fetch_sub_explicit(&live_bytes, bytes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&live_pieces, 1, memory_order_relaxed);
    free(memory);
}

// What the linker makes of calls of mmap() in the program's own objects (--wrap), and the names
// that it wants for it: NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
void *__real_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);

void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (me.refuses_maps) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(address, bytes, protection, flags, file, offset);
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

void stress_heap_install(void)
{
    const kw_allocator allocator = {
        .struct_size = sizeof allocator,
        .allocate = heap_allocate,
        .reallocate = heap_reallocate,
        .free = heap_free,
    };
    if (kw_allocator_set(&allocator, NULL) != KW_OK) {
        stress_give_up("the library has allocated before the driver could set its allocator");
    }
}

void stress_heap_fail(uint32_t one_in, uint32_t seed)
{
    me = (habits){.one_in = one_in, .random = seed | 1};
}

void stress_heap_hold(void)
{
    me.holds++;
}

void stress_heap_go_on(void)
{
    me.holds--;
}

void stress_heap_exhaust(bool exhausted)
{
    atomic_store_explicit(&is_exhausted, exhausted, memory_order_relaxed);
}

void stress_heap_refuse_maps(bool are_refused)
{
    me.refuses_maps = are_refused;
}

uint64_t stress_heap_failure_count(void)
{
    return me.failures;
}

uint64_t stress_heap_live_bytes(void)
{
    return atomic_load_explicit(&live_bytes, memory_order_relaxed);
}

uint64_t stress_heap_live_pieces(void)
{
    return atomic_load_explicit(&live_pieces, memory_order_relaxed);
}
