// Locks: the mutexes of the library, one for each rank, and what fork and cancellation need of
// them.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT
//
// H1  A thread takes locks in the order of their ranks.
// H2  Before a fork the forking thread takes them all, so that the child finds none that belongs to
//     a thread it does not have. One that holds a lock already, as code that kw_startup() runs,
//     takes those of higher rank, and goes on under its own on both sides.
// H3  A thread that waits for another to change what a lock guards holds none of higher rank.
// H4  The lock of the last rank is held for a few steps in which nobody stands still, and orders
//     nothing that calls see: it is no schedule step.

#ifndef KWI_BASE_LOCK_H
#define KWI_BASE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef enum kwi_lock_rank {
    KWI_LOCK_STARTUP = 0, // kw_startup() commits blocks, whose functions run under it
    KWI_LOCK_PLUGIN = 1,  // what is known of plugins; plugin/plugins.h takes it
    KWI_LOCK_DEFAULT = 2, // the default dispatcher is made
    KWI_LOCK_WRITER = 3,  // the writer lock; registry/world.h takes it
    KWI_LOCK_SHARED = 4,  // the list of shared snapshots; rcu/shared.h takes it
    KWI_LOCK_TEXTS = 5, // texts that registrations share, and numbers; base/shared_text.h takes it
    KWI_LOCK_COUNT = 6
} kwi_lock_rank;

void kwi_lock(kwi_lock_rank rank);
void kwi_unlock(kwi_lock_rank rank);

// Sleeps, without the lock, until somebody who holds it wakes, or until the monotonic clock, or for
// no reason; UINT64_MAX: without end. See H3.
void kwi_lock_wait(kwi_lock_rank rank, uint64_t end_ns);
void kwi_lock_wake(kwi_lock_rank rank);

#ifdef KWI_TESTING
// What schedule steps call the lock.
const void *kwi_lock_place(kwi_lock_rank rank);
#endif

// Whether the calling thread holds it.
bool kwi_lock_is_held(kwi_lock_rank rank);

// H2. The second gives back what the first has taken, in the parent and in the child.
void kwi_locks_before_fork(void);
void kwi_locks_after_fork(void);

// In the child, before that: nobody waits any more.
void kwi_locks_forget_waiters(void);

// Puts off the cancellation of the thread, which would leave locks behind, those of liburcu-bp
// among them. Nests: the second takes what the first has returned.
int kwi_cancel_hold(void);
void kwi_cancel_restore(int before);

#endif // KWI_BASE_LOCK_H
