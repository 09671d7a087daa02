// Swaps: commits that replace the CPU kernel of bench_op.two while others call it.
//
// Layer:   bench
// Threads: one at a time.
// SPDX-License-Identifier: MIT

#ifndef BENCH_SWAP_H
#define BENCH_SWAP_H

#include <stdbool.h>
#include <stdint.h>

// Replaces the kernel by the other of two, in a transaction of its own. From then on a call with c
// answers c plus what is returned, 1 or 2.
int64_t bench_swap(bool defers);

// The two as functions without an argument: reclaiming in the commit, and left to a later one.
void bench_swap_at_once(void);
void bench_swap_deferring(void);

#endif // BENCH_SWAP_H
