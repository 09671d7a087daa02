// Turns: who makes the next grace period, when, and for whom.
//
// Layer:   rcu
// Threads: any; waits without a lock.
// SPDX-License-Identifier: MIT
//
// Note [Turns]
//
// A heavy fence interrupts every processor that runs a thread of the process. Commits one after the
// other would take readers most of their time. So after a grace period the next one begins no
// sooner than after a multiple of what the fence took, which is next to nothing where no other
// thread runs: readers lose at most one part in as many and one, however fast commits come.
//
// Who waits for its turn is served by any grace period that begins after it came. Grace periods are
// numbered as they begin. Both count in one word, so whoever came before a beginning, and all it
// did before, is before that beginning.

#ifndef KWI_RCU_TURN_H
#define KWI_RCU_TURN_H

#include <stdbool.h>
#include <stdint.h>

// A grace period under way.
typedef struct kwi_turn {
    uint64_t number;
} kwi_turn;

// True: the caller makes a grace period, and then calls kwi_turn_end(). False: another thread has
// made one since the caller came.
bool kwi_turn_take(kwi_turn *out_turn);

// `fence_ns`: what the heavy fence took.
void kwi_turn_end(const kwi_turn *turn, uint64_t fence_ns);

#endif // KWI_RCU_TURN_H
