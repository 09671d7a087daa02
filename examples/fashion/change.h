// Change: a transaction of the demo, with the user data of the kernels that it stages.
//
// Layer:     example (uses kernel_state)
// Threads:   one at a time
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// The first failure sticks: later steps do nothing, and the commit returns it. So a change is
// written down as a list of steps with one check at the end.

#ifndef FASHION_CHANGE_H
#define FASHION_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include <keyway/transaction.h>

#include "kernel_state.h"

enum {
    FASHION_CHANGE_KERNELS_MAX = 16
};

// A registered kernel.
typedef struct fashion_slot {
    kw_registration registration;
    fashion_kernel_state *state; // borrowed from the registry
    fashion_op op;
} fashion_slot;

typedef struct fashion_change {
    fashion_ledger *ledger;
    kw_transaction *tx;
    kw_error *err;
    kw_status status;
    fashion_kernel_state *staged[FASHION_CHANGE_KERNELS_MAX]; // owned until the commit succeeds
    size_t staged_count;
} fashion_change;

/// Begins a change. It ends with fashion_change_commit() in every case.
void fashion_change_begin(fashion_change *change, kw_dispatcher *dispatcher, fashion_ledger *ledger,
                          kw_error *err);

/// Stages a kernel with a state of its own. `*out_slot` holds once the commit succeeds.
void fashion_change_impl(fashion_change *change, kw_library *library, fashion_op op, kw_key key,
                         kw_kernel_descriptor kernel, fashion_slot *out_slot);

/// Stages the removal of a kernel.
void fashion_change_remove(fashion_change *change, kw_library *library, const fashion_slot *slot);

/// Stages the removal of all that a library registered, and its closing.
void fashion_change_close(fashion_change *change, kw_library *library);

/// Commits what was staged, or gives it up and frees the states.
kw_status fashion_change_commit(fashion_change *change, bool defer_reclaim);

#endif // FASHION_CHANGE_H
