// Reclamation: what becomes of a block from its retirement to its end.
//
// Layer:   rcu
// Threads: every function runs under the writer lock; none waits.
// SPDX-License-Identifier: MIT
//
// A retired block is *linked* while its operator's chain leads to it, for readers under an older
// pin, and *unlinked* afterwards. It is *ripe* when the grace period its ticket names is over.
//
// C1  A block that is not ripe is neither unlinked nor freed: another commit's grace period says
//     nothing about it.
// C2  All pins are read before all announcements. The other order frees a block that a thread
//     announced under a pin it then gave up.
// C3  A linked block whose interval [version, hi) holds a pin stays.
// C4  A block that is unlinked while some pin is older than it gets a new ticket: a reader on its
//     way down the chain may stand on it.
// C5  A block that a thread announces is not freed.
// C6  The pass never follows an announced pointer; it compares addresses. A stale announcement or
//     a reused address only delays.

#ifndef KWI_RCU_RECLAIM_H
#define KWI_RCU_RECLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/inline/table.h>

#include "base/role.h"
#include "base/vector.h"

typedef enum kwi_block_state {
    KWI_BLOCK_NEWEST = 0,    // the chain's first
    KWI_BLOCK_LINKED = 1,    // retired, reached by older readers
    KWI_BLOCK_UNLINKED = 2,  // retired, out of the chain
    KWI_BLOCK_PERMANENT = 3, // the end of chains; never retired
} kwi_block_state;

// Retired blocks that the same pin keeps. They are not looked at again while the pin is open, so
// that an open snapshot over thousands of operators costs later commits nothing.
#define KWI_BUCKET_COUNT 16
typedef struct kwi_bucket {
    uint64_t pin;
    kwi_block *blocks; // NULL: the bucket is free
} kwi_bucket;

typedef struct kwi_reclaimer {
    uint64_t tick; // the newest ticket given out
    uint64_t done; // every grace period up to this ticket is over

    kwi_block *retired; // to be looked at in the next pass
    kwi_bucket buckets[KWI_BUCKET_COUNT];
    uint64_t retired_count; // in the list and the buckets
    uint64_t retired_bytes;

    kwi_words pins;      // scratch of the pass: sorted, distinct
    kwi_words announced; // scratch of the pass: sorted addresses
} kwi_reclaimer;

// Takes `block` out of service: `newer` has been published in its place as of version `hi`.
void kwi_retire(kwi_reclaimer *reclaimer, kwi_block *block, kwi_block *newer, uint64_t hi)
    KWI_REQUIRES(kwi_role_writer);

// Ends a commit: a ticket for everything retired since the last one. The caller gives up the lock,
// waits for a grace period, takes it again and passes the ticket to kwi_reclaim_pass().
uint64_t kwi_reclaim_ticket(kwi_reclaimer *reclaimer) KWI_REQUIRES(kwi_role_writer);

// One pass. Returns the blocks that are free now, linked by `next`; the caller owns them. Without
// memory for the scan it frees nothing; the next pass does.
kwi_block *kwi_reclaim_pass(kwi_reclaimer *reclaimer, uint64_t ticket)
    KWI_REQUIRES(kwi_role_writer);

// True if a retired block would be freed once a further grace period is over.
bool kwi_reclaim_wants_grace(const kwi_reclaimer *reclaimer) KWI_REQUIRES(kwi_role_writer);

// Calls `visit` for every retired block.
void kwi_reclaim_visit(const kwi_reclaimer *reclaimer,
                       void (*visit)(const kwi_block *block, void *context), void *context)
    KWI_REQUIRES(kwi_role_writer);

#endif // KWI_RCU_RECLAIM_H
