// Protection by hazard pointers: a reader says which table it uses, and looks again.
//
// Layer:   bench
// Threads: readers and one writer.
// SPDX-License-Identifier: MIT
//
// The store of the hazard pointer must be seen before the second load of the root is made. One
// variant has a fence for that on each call; in the other the writer has the kernel make all
// running threads pass one, with membarrier.

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "protection.h"
#include "workers.h"

#define SLOTS (BENCH_READERS_MAX + 1)

// guard: scanned. Store: release, by the thread that has it. Load: acquire, by the writer.
static struct {
    const kw_table *table;
    char padding[64 - sizeof(void *)];
} slots[SLOTS] __attribute__((aligned(64)));

static bench_root root;
static unsigned next_slot; // guard: cell. Relaxed: numbers go round, threads of a window are fewer.
static _Thread_local const kw_table **own_slot;

static void begin(void)
{
    unsigned slot = __atomic_fetch_add(&next_slot, 1, __ATOMIC_RELAXED) % SLOTS; // see there
    own_slot = &slots[slot].table;
}

static inline const kw_table *announce_with_fence(void)
{
    for (;;) {
        const kw_table *table = bench_root_load(&root);
        __atomic_store_n(own_slot, table, __ATOMIC_RELEASE);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (bench_root_load(&root) == table) {
            return table;
        }
    }
}

static inline const kw_table *announce_without(void)
{
    for (;;) {
        const kw_table *table = bench_root_load(&root);
        __atomic_store_n(own_slot, table, __ATOMIC_RELEASE);
        __atomic_signal_fence(__ATOMIC_SEQ_CST); // for the compiler; see the writer
        if (bench_root_load(&root) == table) {
            return table;
        }
    }
}

BENCH_READ(read_with_fence, const kw_table *table = announce_with_fence(),
           __atomic_store_n(own_slot, NULL, __ATOMIC_RELEASE))
BENCH_READ(read_without, const kw_table *table = announce_without(),
           __atomic_store_n(own_slot, NULL, __ATOMIC_RELEASE))

static void free_when_unused(kw_table *old)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        while (__atomic_load_n(&slots[i].table, __ATOMIC_ACQUIRE) == old) {
            (void)sched_yield();
        }
    }
    bench_table_free(old);
}

static void write_with_fence(void)
{
    kw_table *old = bench_root_swap(&root, bench_table_copy());
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    free_when_unused(old);
}

static void write_without(void)
{
    kw_table *old = bench_root_swap(&root, bench_table_copy());
    (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    free_when_unused(old);
}

static bool has_membarrier(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

const bench_protection bench_hazard_fence = {
    .begin = begin, .read = read_with_fence, .write = write_with_fence};
const bench_protection bench_hazard_membarrier = {
    .begin = begin, .read = read_without, .write = write_without, .is_possible = has_membarrier};

void bench_protection_hazard_set_up(void)
{
    root.table = bench_table_copy();
}
