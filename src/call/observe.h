// Observing: the callbacks around one call or scope.
//
// Layer:   call
// Threads: owner thread only, inside the call, or inside an announcement of the observers' table.
// SPDX-License-Identifier: MIT

#ifndef KWI_CALL_OBSERVE_H
#define KWI_CALL_OBSERVE_H

#include <stdint.h>

#include <keyway/observer.h>

#include "call/error.h"
#include "registry/observer.h"

// The observers of a table, and what their start returned.
typedef struct kwi_observers {
    const kwi_observer *list[KW_OBSERVERS_MAX]; // those that were started
    void *words[KW_OBSERVERS_MAX];
    uint32_t count;
} kwi_observers;

// Runs the start of every observer of the table that wants this call or scope. `frame` is NULL in a
// scope.
void kwi_observe_start(kwi_call_area *area, const kw_table *table, kw_observation *observation,
                       const kw_frame *frame, kwi_observers *out_started);

// Runs the ends, in the same order.
void kwi_observe_end(kwi_call_area *area, kw_observation *observation, const kw_frame *frame,
                     const kwi_observers *started);

#endif // KWI_CALL_OBSERVE_H
