// Orders: a fingerprint of which steps came before which.
//
// Layer:   stress
// Threads: the one that runs.
// SPDX-License-Identifier: MIT
//
// Note [States]
//
// The threads of a case are deterministic, and everything that one sees of another goes through an
// object that is named to this file when it is read or written. So the state that an execution has
// reached is a function of the partial order of its steps: for each step, the last write of what it
// reads, and the reads since of what it writes. Each thread has a fingerprint of its last step,
// which has in it those of the steps that came before; together they are the fingerprint of the
// state. Two executions with equal ones have made the same steps in orders that nobody can tell
// apart, so they go on in the same ways. That is sound, and it is finer than comparing memory: some
// states are visited more than once, none is missed but for a collision of 64 bits.
//
// Steps that did not name all they touch would break this. So each time a state is reached again,
// what the protocol has in memory is compared with the first time (fingerprint.h). What a thread
// has loaded and not stored yet is not in memory: there the declarations in steps.c have to be
// right.
//
// Addresses may be objects because memory of the library comes from an arena for each thread
// (memory.h), in which an address depends on what the thread itself has allocated before.

#ifndef EXPLORE_ORDER_H
#define EXPLORE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

uint64_t explore_mix(uint64_t a, uint64_t b);

// Forgets all objects.
void explore_order_begin(void);

// One access of a thread whose fingerprint is `thread`; returns the new one.
uint64_t explore_order_access(uint64_t thread, const void *object, bool writes);

#endif // EXPLORE_ORDER_H
