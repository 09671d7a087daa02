// Seen: the states that were reached before, and with how many preemptions left.
//
// Layer:   stress
// Threads: the one that runs.
// SPDX-License-Identifier: MIT

#ifndef EXPLORE_SEEN_H
#define EXPLORE_SEEN_H

#include <stdbool.h>
#include <stdint.h>

void explore_seen_begin(void);

// False: whatever follows from the state was searched before. `runs` is the thread that can go on,
// or EXPLORE_NOBODY. See Note [Search]. `memory` is a fingerprint of what the state has in memory,
// which has to be the same each time that the state is reached.
bool explore_seen_add(uint64_t state, uint64_t memory, unsigned runs, uint8_t left);

#endif // EXPLORE_SEEN_H
