// Kernel state: the user data of every kernel of the demo, which notices a use after its end.
//
// Layer:     example (uses ops)
// Threads:   any; a state is used by every thread that runs its kernel
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// Note [Lifetime oracle]
//
// Keyway promises that the user data of a kernel outlives every call that can run it. So a kernel
// enters its state before it computes and leaves it afterwards, and the destructor poisons the
// state and keeps its memory for a while. A kernel that begins or goes on after the destructor
// finds the poison and fails its call; a destructor that runs too early finds the kernel inside.
// What kernel and destructor share is relaxed or plain, so that the demo adds no order of its own
// between them that would hide a missing one from ThreadSanitizer.

#ifndef FASHION_KERNEL_STATE_H
#define FASHION_KERNEL_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <keyway/kernel.h>

#include "ops.h"

enum {
    // Destroyed states whose memory is kept, oldest first out.
    FASHION_GRAVEYARD_COUNT = 4096
};

// Makes states and counts their ends.
typedef struct fashion_ledger {
    pthread_mutex_t mutex;
    uint64_t created_count;   // guard: mutex, as all that follow
    uint64_t destroyed_count; // destructors that have run
    uint64_t early_count;     // of these, with a kernel still inside
    struct fashion_kernel_state *dead[FASHION_GRAVEYARD_COUNT]; // a ring; NULL while not full
} fashion_ledger;

typedef struct fashion_kernel_state {
    uint64_t canary;
    fashion_ledger *ledger;
    uint32_t op;
    atomic_uint running_count; // kernels inside
} fashion_kernel_state;

/// Figures of a ledger at one moment.
typedef struct fashion_ledger_counts {
    uint64_t created_count;
    uint64_t destroyed_count;
    uint64_t early_count;
} fashion_ledger_counts;

/// Makes an empty ledger. It has to stay where it is, and to outlive its states.
void fashion_ledger_init(fashion_ledger *ledger);

/// Frees the memory of all destroyed states. Every state has to be destroyed.
void fashion_ledger_fini(fashion_ledger *ledger);

fashion_ledger_counts fashion_ledger_read(fashion_ledger *ledger);

/// Makes the state of a kernel for an operator; NULL if memory is out.
fashion_kernel_state *fashion_kernel_state_create(fashion_ledger *ledger, fashion_op op);

/// Ends a state: the destructor that is registered with the kernel.
void fashion_kernel_state_destroy(void *state);

/// Poisons a state that may still be in use: what a library does that destroys too early.
void fashion_kernel_state_poison(fashion_kernel_state *state);

/// Enters the state of a running kernel. On failure it has said why and nothing is entered.
kw_status fashion_kernel_enter(const kw_kernel *self, fashion_op op);

/// Leaves it. Fails if the state ended in the meantime.
kw_status fashion_kernel_leave(const kw_kernel *self);

/// Leaves it and, if `status` so far is KW_OK, hands the result on; else releases the result.
/// Returns the first failure.
kw_status fashion_kernel_finish(const kw_kernel *self, kw_status status,
                                fashion_tensor *take_result, fashion_tensor **out_0);

#endif // FASHION_KERNEL_STATE_H
