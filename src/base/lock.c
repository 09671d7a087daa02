// Locks: the mutexes of the library, one for each rank, and what fork and cancellation need of
// them.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT

#include "base/lock.h"

#include <pthread.h>
#include <time.h>

#include "base/assert.h"
#include "base/schedule.h"

static pthread_mutex_t mutexes[KWI_LOCK_COUNT] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
};

// guard: thread. Bits of the ranks that the thread holds, and of those it took for a fork.
static _Thread_local unsigned held;
static _Thread_local unsigned taken_for_fork;

// See H4.
static bool is_step(kwi_lock_rank rank)
{
    return rank != KWI_LOCK_TEXTS;
}

void kwi_lock(kwi_lock_rank rank)
{
    KWI_ASSERT(held >> rank == 0); // H1
    if (is_step(rank)) {
        KWI_STEP(LOCK, &mutexes[rank]);
    }
    (void)pthread_mutex_lock(&mutexes[rank]); // cannot fail: initialised, not recursive
    held |= 1U << rank;
}

void kwi_unlock(kwi_lock_rank rank)
{
    held &= ~(1U << rank);
    (void)pthread_mutex_unlock(&mutexes[rank]);
    if (is_step(rank)) {
        KWI_STEP(UNLOCK, &mutexes[rank]);
    }
}

// One for all ranks: who wakes for no reason looks again. It waits on the monotonic clock, for
// which there is no static initialiser.
static pthread_cond_t woken;
static pthread_once_t woken_once = PTHREAD_ONCE_INIT;

static void make_woken(void)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes); // these fail for unknown clocks only
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&woken, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

void kwi_lock_wait(kwi_lock_rank rank, uint64_t end_ns)
{
    KWI_ASSERT(held >> rank == 1); // H3
    (void)pthread_once(&woken_once, make_woken);
    held &= ~(1U << rank);
    if (KWI_STEP_WAITS(SLEEP, &mutexes[rank])) {
        (void)pthread_mutex_unlock(&mutexes[rank]);
        KWI_STEP(LOCK, &mutexes[rank]); // once somebody has woken the thread
        (void)pthread_mutex_lock(&mutexes[rank]);
    } else if (end_ns == UINT64_MAX) {
        (void)pthread_cond_wait(&woken, &mutexes[rank]);
    } else {
        const struct timespec end = {
            .tv_sec = (time_t)(end_ns / 1000000000),
            .tv_nsec = (long)(end_ns % 1000000000),
        };
        (void)pthread_cond_timedwait(&woken, &mutexes[rank], &end);
    }
    held |= 1U << rank;
}

void kwi_lock_wake(kwi_lock_rank rank)
{
    KWI_ASSERT(kwi_lock_is_held(rank));
    (void)pthread_once(&woken_once, make_woken);
    KWI_STEP(WAKE, &mutexes[rank]);
    (void)pthread_cond_broadcast(&woken);
}

void kwi_locks_forget_waiters(void)
{
    // The condition may count threads that the child does not have; it is made again, not
    // destroyed.
    (void)pthread_once(&woken_once, make_woken);
    make_woken();
}

#ifdef KWI_TESTING
const void *kwi_lock_place(kwi_lock_rank rank)
{
    return &mutexes[rank];
}
#endif

bool kwi_lock_is_held(kwi_lock_rank rank)
{
    return (held & 1U << rank) != 0;
}

void kwi_locks_before_fork(void)
{
    for (unsigned rank = 0; rank < KWI_LOCK_COUNT; rank++) {
        if (held >> rank == 0) {
            kwi_lock((kwi_lock_rank)rank);
            taken_for_fork |= 1U << rank;
        }
    }
}

void kwi_locks_after_fork(void)
{
    for (unsigned rank = KWI_LOCK_COUNT; rank-- > 0;) {
        if ((taken_for_fork & 1U << rank) != 0) {
            kwi_unlock((kwi_lock_rank)rank);
        }
    }
    taken_for_fork = 0;
}

int kwi_cancel_hold(void)
{
    int before = PTHREAD_CANCEL_ENABLE;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

void kwi_cancel_restore(int before)
{
    (void)pthread_setcancelstate(before, NULL);
}
