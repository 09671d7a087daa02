// Pauses: waiting for what nobody tells, with looks that become rarer, for a limited time.
//
// Layer:   base
// Threads: a pause belongs to one thread.
// SPDX-License-Identifier: MIT

#ifndef KWI_BASE_PAUSE_H
#define KWI_BASE_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct kwi_pause {
    uint64_t end_ns;   // of the monotonic clock; UINT64_MAX: never
    uint64_t pause_ns; // the next one, unless the end comes first
} kwi_pause;

// A moment of kwi_clock_ns() so much later than now, UINT64_MAX where it would overflow.
uint64_t kwi_later_ns(uint64_t timeout_ns);

kwi_pause kwi_pause_begin(uint64_t timeout_ns);

// Sleeps before the next look. False, at once, when the time is over. A cancellation point.
bool kwi_pause_next(kwi_pause *pause);

#endif // KWI_BASE_PAUSE_H
