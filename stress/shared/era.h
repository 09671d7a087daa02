// Eras: which generations of a group a call may see, by when it began and when it ended.
//
// Layer:   stress
// Threads: one writer for each era; any thread asks.
// SPDX-License-Identifier: MIT
//
// Note [Legal generations]
//
// The writer says that a generation has begun before its commit, and that it has settled when the
// commit has returned. A call outside a snapshot that begins when generation s has settled sees s
// or a later one, but none that had not begun when the call was looked at. With one writer that is
// an age of 0 or, while a commit is in flight, 1, counted from the newest one that had begun. What
// any thread has seen is a lower bound too, for whoever learns of it: a commit happens at one
// instant for all threads.

#ifndef STRESS_SHARED_ERA_H
#define STRESS_SHARED_ERA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct stress_era {
    _Atomic uint64_t begun;
    _Atomic uint64_t settled;
    _Atomic uint64_t seen; // the newest that any call has met
} stress_era;

// What was known before a call.
typedef struct stress_span {
    uint64_t least; // no older one is legal
    uint64_t begun; // by then
} stress_span;

static inline void stress_era_begin(stress_era *era, uint64_t generation)
{
    atomic_store_explicit(&era->begun, generation, memory_order_release);
}

static inline void stress_era_settle(stress_era *era, uint64_t generation)
{
    atomic_store_explicit(&era->settled, generation, memory_order_release);
}

static inline uint64_t stress_era_begun(const stress_era *era)
{
    return atomic_load_explicit(&era->begun, memory_order_acquire);
}

// Before a call.
static inline stress_span stress_era_enter(const stress_era *era)
{
    uint64_t begun = stress_era_begun(era);
    uint64_t settled = atomic_load_explicit(&era->settled, memory_order_acquire);
    uint64_t seen = atomic_load_explicit(&era->seen, memory_order_acquire);
    return (stress_span){.least = settled > seen ? settled : seen, .begun = begun};
}

// Inside the call, or after it: whether the generation that it runs is legal. Others learn of it.
static inline bool stress_era_check(stress_era *era, const stress_span *span, uint64_t generation)
{
    uint64_t seen = atomic_load_explicit(&era->seen, memory_order_relaxed);
    while (seen < generation &&
           !atomic_compare_exchange_weak_explicit(&era->seen, &seen, generation,
                                                  memory_order_release, memory_order_relaxed)) {
    }
    return generation >= span->least && generation <= stress_era_begun(era);
}

// How many generations older than the newest that has begun; of two loads the second may be newer.
static inline uint64_t stress_age(uint64_t begun, uint64_t generation)
{
    return begun > generation ? begun - generation : 0;
}

#endif // STRESS_SHARED_ERA_H
