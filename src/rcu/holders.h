// Holders: who keeps a retired block from being freed, and since when.
//
// Layer:   rcu
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT
//
// Note [How long a call has lasted]
//
// A call notes no time: that would be a clock read on every call. But once a pass has unlinked a
// ripe block, nobody can announce it any more (theorem 1 of docs/concurrency.md), so a call that is
// found inside it has begun before the pass that first found it announced. The time of that pass is
// kept in the block, and what has passed since is a lower bound of the age of each of its calls. Of
// calls inside other blocks, those that are newest, wait for a grace period, or are kept for a
// snapshot, no age is known.

#ifndef KWI_RCU_HOLDERS_H
#define KWI_RCU_HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/inline/table.h>

#include "base/role.h"
#include "rcu/reclaim.h"

typedef enum kwi_hold_kind {
    KWI_HOLD_CALL = 1,
    KWI_HOLD_SNAPSHOT = 2,
    KWI_HOLD_SHARED_SNAPSHOT = 3,
} kwi_hold_kind;

// One reason why a block stays: an announcement, or a pin in its interval. It stays valid when the
// lock is given up, unlike the block.
typedef struct kwi_hold {
    const void *owner; // of the block
    kwi_hold_kind kind;
    uint32_t thread_id; // 0: of no thread
    uint64_t version;   // of the block that a call is inside; of the snapshot
    uint64_t age_ns;    // UINT64_MAX: not known
    bool is_self;       // it is the calling thread's
} kwi_hold;

typedef void (*kwi_hold_visitor)(const kwi_hold *hold, void *context);

// Visits what holds a block at the moment: calls end and begin meanwhile. A block that is in no
// list, because it is the newest, is held by calls alone.
void kwi_holds_visit(const kwi_block *block, kwi_hold_visitor visit, void *context)
    KWI_REQUIRES(kwi_role_writer);

// Whether the calling thread is inside any call or snapshot.
bool kwi_thread_is_inside(void);

// What is pinned, and which retired blocks wait for what.
typedef struct kwi_census {
    uint64_t snapshot_count; // threads with a snapshot open
    uint64_t shared_count;
    uint64_t version_count;  // distinct ones that are pinned
    uint64_t oldest_version; // of them; UINT64_MAX: none
    uint64_t oldest_age_ns;
    uint64_t pinned_count; // retired blocks with a pin in their interval
    uint64_t pinned_bytes;
    uint64_t unripe_count; // retired blocks whose grace period has not been waited for
    uint64_t unripe_bytes;
} kwi_census;

// Uses the scratch of the pass. Without memory for it nothing counts as pinned.
kwi_census kwi_census_take(kwi_reclaimer *reclaimer) KWI_REQUIRES(kwi_role_writer);

#endif // KWI_RCU_HOLDERS_H
