// Forced ends: threads that ended inside a call or under a snapshot, until somebody is told.
//
// Layer:   rcu
// Threads: added by the thread that ends; taken under the writer lock.
// SPDX-License-Identifier: MIT
//
// A thread that ends tells nobody itself: it may hold locks of the host, and its own destructors
// are under way. The next pass takes the reports, before it frees anything: until then the table
// that a report names is the one that the thread was inside of.

#ifndef KWI_RCU_FORCED_END_H
#define KWI_RCU_FORCED_END_H

#include <stddef.h>
#include <stdint.h>

#include "base/role.h"

typedef struct kwi_forced_end {
    uint64_t thread;         // its number in the system
    const void *table;       // of its innermost call; compared, never followed. NULL: no call
    uint32_t call_count;     // announcements that were taken back
    uint32_t snapshot_count; // snapshots that were closed
} kwi_forced_end;

// Reports that wait at the same time; further ones are only counted.
#define KWI_FORCED_END_COUNT 16

void kwi_forced_end_add(const kwi_forced_end *end);

// Takes what is there, up to `KWI_FORCED_END_COUNT`; returns how many.
size_t kwi_forced_end_take(kwi_forced_end *out_ends) KWI_REQUIRES(kwi_role_writer);

// All that were added so far, waiting or not.
uint64_t kwi_forced_end_count(void);

// In the child: the reports are the parent's.
void kwi_forced_ends_after_fork_child(void);

#endif // KWI_RCU_FORCED_END_H
