// The clock of histories.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT
//
// Note [The order of operations]
//
// The clock counts responses. An operation notes the count when it begins, by a load that acquires,
// and adds one when it is over, by an addition that releases; what it finds there is the time of
// its response. If the response of A is below the invocation of B, the load of B has read from the
// addition of A or from one after it. All additions after that of A belong to its release sequence,
// so the load synchronises with it: A happens before B, in the sense of C11. That is the order in
// which the library promises that a call sees a commit, no more and no less, on every architecture;
// a clock of the system orders nothing by itself. Operations of one thread are in order because an
// addition comes between them. If neither is below the other, the operations overlap, and no order
// is claimed; so the history has never more order than there was.
//
// The price: the additions are barriers, between two operations of a thread. Inside an operation
// there is none but its own. A mistake that needs stores of one call to pass into the next is not
// shown here; the models of the protocol show those. Nothing else is shared while operations run:
// each thread writes into memory of its own, which is read when the threads have met.

#ifndef TESTS_LINEAR_CLOCK_H
#define TESTS_LINEAR_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

// guard: cell. Add: release. Load: acquire.
extern _Atomic uint64_t linear_response_count;

static inline uint64_t linear_clock_invoke(void)
{
    return atomic_load_explicit(&linear_response_count, memory_order_acquire);
}

static inline uint64_t linear_clock_respond(void)
{
    return atomic_fetch_add_explicit(&linear_response_count, 1, memory_order_release);
}

#endif // TESTS_LINEAR_CLOCK_H
