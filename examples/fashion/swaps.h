// Swaps: the changes of kernels that the demo makes under running calls, one commit each.
//
// Layer:     example (uses kernels, plugins, options)
// Threads:   one at a time; the two counts may be read by any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_SWAPS_H
#define FASHION_SWAPS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/library.h>

#include "kernels.h"
#include "options.h"
#include "plugins.h"

enum {
    FASHION_SHELF_MAX = 12,
    FASHION_CLOSING_MAX = 16,
};

typedef enum fashion_swap {
    FASHION_SWAP_OVERRIDE = 0, // one more kernel covers another one
    FASHION_SWAP_UNCOVER = 1,  // a covering kernel is removed, the covered one serves again
    FASHION_SWAP_RESTORE = 2,  // a kernel is removed and another one put there, in one transaction
    FASHION_SWAP_LAYER = 3,    // a trace or autograd kernel comes
    FASHION_SWAP_UNLAYER = 4,  // a trace or autograd kernel goes
    FASHION_SWAP_LIBRARY = 5,  // one library, or three, make way for others, in one transaction
    FASHION_SWAP_COUNT = 6,
} fashion_swap;

// A library and the kernels that it has registered.
typedef struct fashion_shelf {
    kw_library *library; // owned
    fashion_slot slots[FASHION_SHELF_MAX];
    size_t count;
} fashion_shelf;

// S1  `serving` holds exactly one kernel for each operator, so every operator has one at any time.
typedef struct fashion_swaps {
    kw_dispatcher *dispatcher; // borrowed
    fashion_ledger *ledger;    // borrowed
    const fashion_options *options;
    uint64_t random;
    kw_library *base;      // owned; the definitions, and a fallthrough for Tracer
    fashion_shelf serving; // one kernel each, of the plain or the OpenBLAS library
    fashion_shelf patches; // kernels over those of `serving`
    fashion_shelf layers;  // trace and autograd kernels
    kw_library *closing[FASHION_CLOSING_MAX]; // owned; closed, perhaps still in use; oldest first
    size_t closing_count;
    uint64_t counts[FASHION_SWAP_COUNT];
    fashion_plugins plugins;    // with --plugins they change instead
    atomic_ullong commit_count; // relaxed: a figure
    atomic_ullong failed_count; // relaxed: a figure
    kw_error first_error;
} fashion_swaps;

/// Defines the operators and registers a first library of plain kernels.
///
/// The struct has to stay where it is. Ends with fashion_swaps_fini(), also on failure.
kw_status fashion_swaps_init(fashion_swaps *swaps, kw_dispatcher *dispatcher,
                             fashion_ledger *ledger, const fashion_options *options, kw_error *err);

/// Makes one change, chosen by the seed, or the next one of a plugin. Failures are counted and the
/// first one is kept.
void fashion_swaps_step(fashion_swaps *swaps);

/// Waits until the libraries that were replaced are out of use, and destroys them.
void fashion_swaps_settle(fashion_swaps *swaps);

/// Takes the plugins back. No change of one may follow.
void fashion_swaps_end_plugins(fashion_swaps *swaps);

/// Takes everything back, waits for the end of its use and destroys it.
void fashion_swaps_fini(fashion_swaps *swaps);

/// Returns how many kernels with a state are registered.
size_t fashion_swaps_registered_count(const fashion_swaps *swaps);

#endif // FASHION_SWAPS_H
