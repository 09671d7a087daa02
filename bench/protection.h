// Ways to keep a table alive while a call uses it, around one and the same look-up.
//
// Layer:   bench
// Threads: readers and one writer.
// SPDX-License-Identifier: MIT

#ifndef BENCH_PROTECTION_H
#define BENCH_PROTECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "subject.h"

// What a reader and a writer do. `begin`, `idle` and `end` as in bench_window; they may be NULL.
typedef struct bench_protection {
    void (*begin)(void);
    uint64_t (*read)(uint64_t count);
    void (*idle)(void);
    void (*write)(void); // replaces the table, waits until nobody uses the old one, frees it
    void (*end)(void);
    bool (*is_possible)(void); // NULL: everywhere
} bench_protection;

extern const bench_protection bench_none;
extern const bench_protection bench_keyway;
extern const bench_protection bench_mutex;
extern const bench_protection bench_rwlock;
extern const bench_protection bench_counted;
extern const bench_protection bench_hazard_fence;
extern const bench_protection bench_hazard_membarrier;
extern const bench_protection bench_ck_epoch;
extern const bench_protection bench_urcu_memb;
extern const bench_protection bench_urcu_bp;
extern const bench_protection bench_urcu_qsbr;
extern const bench_protection bench_urcu_mb;

// guard: immutable once set up. What every root holds a copy of.
extern const kw_table *bench_first_table;

// A copy of the first table, as a writer publishes it.
static inline kw_table *bench_table_copy(void)
{
    kw_table *copy = malloc(bench_first_table->block.bytes);
    if (copy == NULL) {
        abort();
    }
    return memcpy(copy, bench_first_table, bench_first_table->block.bytes);
}

// Freed with a mark in it, so that a reader who still uses it does not go on unnoticed.
static inline void bench_table_free(kw_table *table)
{
    memset(table, 0xdd, table->block.bytes);
    free(table);
}

// What readers start from.
typedef struct bench_root {
    kw_table *table; // guard: cell. Store: release, or under the lock. Load: acquire, or under it.
} bench_root;

static inline kw_table *bench_root_load(const bench_root *root)
{
    return __atomic_load_n(&root->table, __ATOMIC_ACQUIRE);
}

static inline kw_table *bench_root_swap(bench_root *root, kw_table *table)
{
    return __atomic_exchange_n(&root->table, table, __ATOMIC_ACQ_REL);
}

// The look-up and the call. Keys and kernel are those of bench_op.two.
static inline kw_status bench_look_up(const kw_table *table, int64_t c, int64_t *out_0)
{
    kw_call call = {table, kwi_thread_self, 0};
    kw_keyset keys;
    const kw_entry *entry = kw_call_select(
        call, kw_keyset_union(call_tensor_keys(&bench_left), call_tensor_keys(&bench_right)),
        &keys);
    return ((bench_two_kernel)entry->function)(entry->kernel, keys, &bench_left, &bench_right, c,
                                               out_0);
}

// Defines a reader's function: ENTER declares and sets `table`, LEAVE ends its use.
#define BENCH_READ(name, ENTER, LEAVE)                                                             \
    static uint64_t name(uint64_t count)                                                           \
    {                                                                                              \
        int64_t out = 0;                                                                           \
        kw_status failures = 0;                                                                    \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            ENTER;                                                                                 \
            failures |= bench_look_up(table, out, &out);                                           \
            LEAVE;                                                                                 \
        }                                                                                          \
        return (uint64_t)out + (uint64_t)failures;                                                 \
    }

// Gives every protection its first table. Called once, before any thread.
void bench_protection_lock_set_up(void);
void bench_protection_rcu_set_up(void);
void bench_protection_hazard_set_up(void);

#endif // BENCH_PROTECTION_H
