// Shared snapshots: counted pins that belong to no thread, in a list that the scan reads.
//
// Layer:   rcu
// Threads: references are counted by any thread; the list is under a lock of its own.
// SPDX-License-Identifier: MIT

#ifndef KWI_RCU_SHARED_H
#define KWI_RCU_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/inline/cell.h>
#include <keyway/snapshot.h>

#include "base/role.h"
#include "base/vector.h"

struct kw_shared_snapshot {
    // guard: immutable.
    uint64_t version;
    uint64_t made_ns; // by the clock of ticks

    // guard: cell. References. Relaxed when one is added: who adds one has one. Given back with
    // release; who gave back the last one loads it with acquire. [pair: shared-count]
    kwi_u64_cell reference_count;

    // guard: lock shared. Neighbours in the list; `link` is what points here, NULL outside it.
    kw_shared_snapshot *next KWI_GUARDED_BY(kwi_role_shared);
    kw_shared_snapshot **link KWI_GUARDED_BY(kwi_role_shared);

#ifdef KWI_TESTING
    // guard: immutable. For the fault PIN_COPIED: the word of the thread that made it.
    const kwi_u64_cell *origin;
#endif
};

// The lock of the list. It is held for some instructions by who shares and by who gives back a last
// reference, and by a scan for as long as it reads pins; never while anything waits or foreign code
// runs. Fork handlers take it after the writer lock.
void kwi_shared_lock(void) KWI_ACQUIRES(kwi_role_shared);
void kwi_shared_unlock(void) KWI_RELEASES(kwi_role_shared);

// Adds the versions of all objects in the list. False: no memory.
bool kwi_shared_scan(kwi_words *pins) KWI_REQUIRES(kwi_role_shared);

// Calls `visit` for every object in the list.
void kwi_shared_visit(void (*visit)(const kw_shared_snapshot *shared, void *context), void *context)
    KWI_REQUIRES(kwi_role_shared);

#endif // KWI_RCU_SHARED_H
