// Locks: the mutexes of the library, one for each rank, and what fork and cancellation need of
// them.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT

#include "base/lock.h"

#include <pthread.h>

#include "base/assert.h"

static pthread_mutex_t mutexes[KWI_LOCK_COUNT] = {
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
};

// guard: thread. Bits of the ranks that the thread holds, and of those it took for a fork.
static _Thread_local unsigned held;
static _Thread_local unsigned taken_for_fork;

void kwi_lock(kwi_lock_rank rank)
{
    KWI_ASSERT(held >> rank == 0);            // H1
    (void)pthread_mutex_lock(&mutexes[rank]); // cannot fail: initialised, not recursive
    held |= 1U << rank;
}

void kwi_unlock(kwi_lock_rank rank)
{
    held &= ~(1U << rank);
    (void)pthread_mutex_unlock(&mutexes[rank]);
}

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
