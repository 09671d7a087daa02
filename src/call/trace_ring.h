// Rings of a trace: many threads put records in, one takes them out.
//
// Layer:   call
// Threads: as each function says.
// SPDX-License-Identifier: MIT

#ifndef KWI_CALL_TRACE_RING_H
#define KWI_CALL_TRACE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/trace.h>

typedef struct kwi_trace_ring kwi_trace_ring;

// `size` is a power of two, at least 4; one record less fits. NULL: no memory.
kwi_trace_ring *kwi_trace_ring_create(uint32_t size);
void kwi_trace_ring_destroy(kwi_trace_ring *ring);

// From any thread. False: the ring is full; the record is counted as dropped.
bool kwi_trace_ring_put(kwi_trace_ring *ring, const kw_trace_record *record);

// From one thread at a time. False: the ring is empty.
bool kwi_trace_ring_take(kwi_trace_ring *ring, kw_trace_record *out_record);

// From any thread.
void kwi_trace_ring_drop(kwi_trace_ring *ring);
uint64_t kwi_trace_ring_dropped(const kwi_trace_ring *ring);

#endif // KWI_CALL_TRACE_RING_H
