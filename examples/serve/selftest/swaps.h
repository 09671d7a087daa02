// Swaps: changes of plugins over the administration's port, at random and one after the other.
//
// Layer:   example (uses wire, history)
// Threads: one thread of its own makes changes; another one starts, pauses and ends it, and may
//          make changes of its own while it pauses
// SPDX-License-Identifier: MIT
//
// A change is drawn by the seed among those that fit to what serves: load, replace (by the same
// file, which is loaded anew), roll back, unload, and another percentage for the canary. Which
// changes are made in which order depends on the seed only; when they are made, on the machine.

#ifndef SELFTEST_SWAPS_H
#define SELFTEST_SWAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "findings.h"
#include "history.h"

typedef enum selftest_swap {
    SELFTEST_SWAP_LOAD = 0,
    SELFTEST_SWAP_REPLACE = 1,
    SELFTEST_SWAP_ROLLBACK = 2,
    SELFTEST_SWAP_UNLOAD = 3,
    SELFTEST_SWAP_CANARY = 4, // another percentage
    SELFTEST_SWAP_COUNT = 5
} selftest_swap;

typedef struct selftest_swaps_options {
    uint16_t admin_port;
    unsigned swap_ms;
    unsigned hang_ms;  // how long an answer may take
    unsigned drain_ms; // how long a change may wait for calls to end
    uint64_t seed;
    const selftest_name *names; // of plugins; borrowed, as what follows
    size_t name_count;
    selftest_history *history;
    selftest_findings *findings;
} selftest_swaps_options;

typedef struct selftest_swaps_totals {
    uint64_t counts[SELFTEST_SWAP_COUNT]; // that were made
    uint64_t by_plugin[SELFTEST_PLUGINS_MAX];
    uint64_t unmapped; // unloaded ones, by what the answer said
    uint64_t retained;
    uint64_t draining; // held still; they leave later
    uint64_t longest_ns;
} selftest_swaps_totals;

typedef struct selftest_swaps selftest_swaps; // opaque

/// Starts it; it pauses at first. NULL: a finding says why.
selftest_swaps *selftest_swaps_create(const selftest_swaps_options *options);

/// Ends it. NULL is allowed.
void selftest_swaps_destroy(selftest_swaps *swaps);

/// Makes changes until it is paused.
void selftest_swaps_run(selftest_swaps *swaps);

/// Waits until the change on its way has been made.
void selftest_swaps_pause(selftest_swaps *swaps);

/// Makes one change; while it pauses. False: it was refused, and a finding says why.
bool selftest_swaps_load(selftest_swaps *swaps, size_t plugin);
bool selftest_swaps_set_percent(selftest_swaps *swaps, unsigned percent);

/// Unloads all that serves; while it pauses.
bool selftest_swaps_unload_all(selftest_swaps *swaps);

/// Whether it has given up: a change got no answer.
bool selftest_swaps_has_given_up(const selftest_swaps *swaps);

/// What was counted; while it pauses.
const selftest_swaps_totals *selftest_swaps_totals_of(const selftest_swaps *swaps);

/// "load", "replace" and so on.
const char *selftest_swap_name(selftest_swap swap);

#endif // SELFTEST_SWAPS_H
