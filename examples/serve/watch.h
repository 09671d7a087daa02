// Watch: an observer of the network's operators, which counts calls and notes what served them.
//
// Layer:   example (uses keyway/observer.h)
// Threads: callbacks run in the threads that call; figures are read by any
// SPDX-License-Identifier: MIT

#ifndef SERVE_WATCH_H
#define SERVE_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <keyway/key.h>
#include <keyway/observer.h>

#include "histogram.h"
#include "network.h"

// The slots that served the calls of one batch. A worker makes it its thread's context
// (kw_call_context_set), where the observer finds it.
typedef struct serve_served {
    bool is_called[SERVE_OP_COUNT];
    unsigned slots[SERVE_OP_COUNT]; // of the last call of each operator
} serve_served;

typedef struct serve_watch {
    const serve_network *network; // borrowed
    kw_dispatcher *dispatcher;    // borrowed
    uint64_t number;              // of the observer
    atomic_bool is_gone;          // no call reaches it any more
    // In nanoseconds. Not a megabyte, of which the keys that serve take memory.
    serve_histogram call_ns[SERVE_OP_COUNT][KW_SLOT_COUNT];
    atomic_uint_fast64_t calls[SERVE_OP_COUNT][KW_SLOT_COUNT];
    atomic_uint_fast64_t failures[SERVE_OP_COUNT];
    atomic_uint last_slots[SERVE_OP_COUNT]; // 1 + the slot; 0: not called yet
} serve_watch;

/// Adds the observer. `watch` is all zeros and stays where it is; the network outlives it.
kw_status serve_watch_start(serve_watch *watch, kw_dispatcher *dispatcher,
                            const serve_network *network, kw_error *err);

/// Removes it and waits until no call reaches it; not inside a call or snapshot. Does nothing for
/// one that was not started.
kw_status serve_watch_stop(serve_watch *watch, kw_error *err);

#endif // SERVE_WATCH_H
