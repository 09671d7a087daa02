// The world: what the process has one of. The writer lock, the reclaimer, the newest version.
//
// Layer:   registry
// Threads: any; the lock serialises every change of every dispatcher.
// SPDX-License-Identifier: MIT
//
// W1  The lock is never held while waiting for a grace period, running a destructor, or calling a
//     listener. So a kernel may register, and a destructor or listener may too.

#ifndef KWI_REGISTRY_WORLD_H
#define KWI_REGISTRY_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/dispatcher.h>

#include "base/role.h"
#include "rcu/reclaim.h"
#include "registry/registration.h"
#include "table/layout.h"

// An array of a name index that readers may still walk.
typedef struct kwi_old_array {
    struct kwi_old_array *next;
    size_t bytes; // of the allocation, this header included
    uint64_t ticket;
    uint64_t padding; // keeps what follows 16-byte aligned
} kwi_old_array;

typedef struct kwi_world {
    // guard: lock writer, all of it.
    kwi_reclaimer reclaimer;
    kwi_old_array *old_arrays;
    kw_dispatcher *dispatchers;
    uint64_t kernel_count;     // alive
    kwi_layout_set layouts;    // of all tables
    kwi_registration *dying;   // dead, not yet gone: U1
    kwi_registration *orphans; // the same, without a thread that buries them: U2
} kwi_world;

extern kwi_world kwi_the_world KWI_GUARDED_BY(kwi_role_writer);

void kwi_world_lock(void) KWI_ACQUIRES(kwi_role_writer);
void kwi_world_unlock(void) KWI_RELEASES(kwi_role_writer);

// Sleeps, without the lock, until kwi_world_wake(), or for no reason. False when the monotonic
// clock has reached `end_ns`; UINT64_MAX is never. Not a cancellation point.
bool kwi_world_wait(uint64_t end_ns) KWI_REQUIRES(kwi_role_writer);
void kwi_world_wake(void) KWI_REQUIRES(kwi_role_writer);

// A grace period for everything retired so far, then a pass: frees what nobody uses, runs the
// destructors of what died; and once more for what the pass unlinked under an older pin. Waits; not
// inside a section, not with the lock.
void kwi_world_reclaim(void) KWI_EXCLUDES(kwi_role_writer);

// The same for a commit that holds the lock and has done all it wanted: gives it up.
void kwi_world_unlock_and_reclaim(kwi_registration *dead) KWI_RELEASES(kwi_role_writer);

// Without the pass: ends the records that a commit which defers reclaiming has found dead.
void kwi_world_unlock_and_bury(kwi_registration *dead) KWI_RELEASES(kwi_role_writer);

// In the child of a fork, with the lock: no other thread waits for a definition there.
void kwi_waits_after_fork_child(void) KWI_REQUIRES(kwi_role_writer);

// Keeps an array until a grace period is over.
void kwi_world_defer_array(kwi_old_array *array) KWI_REQUIRES(kwi_role_writer);

#endif // KWI_REGISTRY_WORLD_H
