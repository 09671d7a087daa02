// Fingerprints: what is in the shared memory of the protocol, to check the reduction by.
//
// Layer:   stress
// Threads: the one that runs.
// SPDX-License-Identifier: MIT

#ifndef EXPLORE_FINGERPRINT_H
#define EXPLORE_FINGERPRINT_H

#include <stdint.h>

// Main thread, before an execution: versions and tickets count from here.
void explore_fingerprint_begin(void);

// Of version, tickets, roots, retired blocks, and what each thread block announces and pins. It is
// the same in all executions that reach the same state.
uint64_t explore_fingerprint(void);

#endif // EXPLORE_FINGERPRINT_H
