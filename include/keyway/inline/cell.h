// Cells: words that several threads touch, with the memory order in the name of each access.
//
// Layer:     base
// Threads:   any; that is their purpose. The owner of a cell says who stores and who loads it.
// Stability: inline tier: recompile for each layout number.
// SPDX-License-Identifier: MIT
//
// A cell is a one-member struct, so that a plain assignment to it does not compile. The compiler's
// __atomic built-ins give C and C++ the same layout and ThreadSanitizer the same view.

#ifndef KW_INLINE_CELL_H
#define KW_INLINE_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/export.h>

KW_BEGIN_DECLS

typedef struct kwi_ptr_cell {
    void *value;
} kwi_ptr_cell;

typedef struct kwi_u32_cell {
    uint32_t value;
} kwi_u32_cell;

typedef struct kwi_u64_cell {
    uint64_t value;
} kwi_u64_cell;

static inline void *kwi_ptr_load_relaxed(const kwi_ptr_cell *cell)
{
    return __atomic_load_n(&cell->value, __ATOMIC_RELAXED);
}

static inline void *kwi_ptr_load_acquire(const kwi_ptr_cell *cell)
{
    return __atomic_load_n(&cell->value, __ATOMIC_ACQUIRE);
}

static inline void kwi_ptr_store_relaxed(kwi_ptr_cell *cell, const void *value)
{
    __atomic_store_n(&cell->value, (void *)(uintptr_t)value, __ATOMIC_RELAXED);
}

static inline void kwi_ptr_store_release(kwi_ptr_cell *cell, const void *value)
{
    __atomic_store_n(&cell->value, (void *)(uintptr_t)value, __ATOMIC_RELEASE);
}

static inline uint32_t kwi_u32_load_relaxed(const kwi_u32_cell *cell)
{
    return __atomic_load_n(&cell->value, __ATOMIC_RELAXED);
}

static inline uint32_t kwi_u32_load_acquire(const kwi_u32_cell *cell)
{
    return __atomic_load_n(&cell->value, __ATOMIC_ACQUIRE);
}

static inline void kwi_u32_store_relaxed(kwi_u32_cell *cell, uint32_t value)
{
    __atomic_store_n(&cell->value, value, __ATOMIC_RELAXED);
}

static inline void kwi_u32_store_release(kwi_u32_cell *cell, uint32_t value)
{
    __atomic_store_n(&cell->value, value, __ATOMIC_RELEASE);
}

static inline uint64_t kwi_u64_load_relaxed(const kwi_u64_cell *cell)
{
    return __atomic_load_n(&cell->value, __ATOMIC_RELAXED);
}

static inline uint64_t kwi_u64_load_acquire(const kwi_u64_cell *cell)
{
    return __atomic_load_n(&cell->value, __ATOMIC_ACQUIRE);
}

static inline void kwi_u64_store_relaxed(kwi_u64_cell *cell, uint64_t value)
{
    __atomic_store_n(&cell->value, value, __ATOMIC_RELAXED);
}

static inline void kwi_u64_store_release(kwi_u64_cell *cell, uint64_t value)
{
    __atomic_store_n(&cell->value, value, __ATOMIC_RELEASE);
}

static inline uint64_t kwi_u64_add_relaxed(kwi_u64_cell *cell, uint64_t delta)
{
    return __atomic_fetch_add(&cell->value, delta, __ATOMIC_RELAXED);
}

static inline uint64_t kwi_u64_add_release(kwi_u64_cell *cell, uint64_t delta)
{
    return __atomic_fetch_add(&cell->value, delta, __ATOMIC_RELEASE);
}

static inline uint64_t kwi_u64_sub_release(kwi_u64_cell *cell, uint64_t delta)
{
    return __atomic_fetch_sub(&cell->value, delta, __ATOMIC_RELEASE);
}

static inline uint32_t kwi_u32_add_relaxed(kwi_u32_cell *cell, uint32_t delta)
{
    return __atomic_fetch_add(&cell->value, delta, __ATOMIC_RELAXED);
}

static inline uint32_t kwi_u32_sub_release(kwi_u32_cell *cell, uint32_t delta)
{
    return __atomic_fetch_sub(&cell->value, delta, __ATOMIC_RELEASE);
}

// Sequentially consistent: for two threads that each write one word and then read the other's.

static inline uint32_t kwi_u32_load_seq_cst(const kwi_u32_cell *cell)
{
    return __atomic_load_n(&cell->value, __ATOMIC_SEQ_CST);
}

static inline void kwi_u32_store_seq_cst(kwi_u32_cell *cell, uint32_t value)
{
    __atomic_store_n(&cell->value, value, __ATOMIC_SEQ_CST);
}

static inline uint64_t kwi_u64_load_seq_cst(const kwi_u64_cell *cell)
{
    return __atomic_load_n(&cell->value, __ATOMIC_SEQ_CST);
}

static inline uint64_t kwi_u64_add_seq_cst(kwi_u64_cell *cell, uint64_t delta)
{
    return __atomic_fetch_add(&cell->value, delta, __ATOMIC_SEQ_CST);
}

static inline uint64_t kwi_u64_sub_seq_cst(kwi_u64_cell *cell, uint64_t delta)
{
    return __atomic_fetch_sub(&cell->value, delta, __ATOMIC_SEQ_CST);
}

// Compare-and-swap: the first order is that of success, the second that of failure, in which case
// `*expected` holds what was there.

static inline bool kwi_ptr_compare_exchange_release_acquire(kwi_ptr_cell *cell, void **expected,
                                                            void *desired)
{
    return __atomic_compare_exchange_n(&cell->value, expected, desired, false, __ATOMIC_RELEASE,
                                       __ATOMIC_ACQUIRE);
}

static inline bool kwi_u64_compare_exchange_acquire_relaxed(kwi_u64_cell *cell, uint64_t *expected,
                                                            uint64_t desired)
{
    return __atomic_compare_exchange_n(&cell->value, expected, desired, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static inline bool kwi_u32_compare_exchange_acquire_relaxed(kwi_u32_cell *cell, uint32_t *expected,
                                                            uint32_t desired)
{
    return __atomic_compare_exchange_n(&cell->value, expected, desired, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

KW_END_DECLS

#endif // KW_INLINE_CELL_H
