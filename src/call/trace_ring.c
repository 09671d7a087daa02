// Rings of a trace: Concurrency Kit's ring of records, with a count of what did not fit.
//
// Layer:   call
// Threads: many put, one takes.
// SPDX-License-Identifier: MIT
//
// This file is never instrumented by ThreadSanitizer: the order of a ring is carried by Concurrency
// Kit's inline assembly, which the sanitizer cannot see.

#include "call/trace_ring.h"

#include <ck_ring.h>

#include <keyway/inline/cell.h>

#include "base/memory.h"

struct kwi_trace_ring {
    ck_ring_t ring;

    // guard: cell. Relaxed: a statistic.
    kwi_u64_cell dropped;

    // guard: cell. The ring's own order, store after writing, load before reading.
    struct kw_trace_record records[];
};

CK_RING_PROTOTYPE(record, kw_trace_record)

static size_t ring_bytes(uint32_t size)
{
    return sizeof(kwi_trace_ring) + size * sizeof(kw_trace_record);
}

kwi_trace_ring *kwi_trace_ring_create(uint32_t size)
{
    kwi_trace_ring *ring = kwi_allocate(ring_bytes(size));
    if (ring != NULL) {
        ck_ring_init(&ring->ring, size);
    }
    return ring;
}

void kwi_trace_ring_destroy(kwi_trace_ring *ring)
{
    if (ring != NULL) {
        kwi_free(ring, ring_bytes(ck_ring_capacity(&ring->ring)));
    }
}

bool kwi_trace_ring_put(kwi_trace_ring *ring, const kw_trace_record *record)
{
    kw_trace_record copy = *record; // the prototype takes what it does not change as not constant
    if (!ck_ring_enqueue_mpsc_record(&ring->ring, ring->records, &copy)) {
        kwi_trace_ring_drop(ring);
        return false;
    }
    return true;
}

bool kwi_trace_ring_take(kwi_trace_ring *ring, kw_trace_record *out_record)
{
    return ck_ring_dequeue_mpsc_record(&ring->ring, ring->records, out_record);
}

void kwi_trace_ring_drop(kwi_trace_ring *ring)
{
    (void)kwi_u64_add_relaxed(&ring->dropped, 1); // relaxed: a statistic
}

uint64_t kwi_trace_ring_dropped(const kwi_trace_ring *ring)
{
    return kwi_u64_load_relaxed(&ring->dropped); // relaxed: a statistic
}
