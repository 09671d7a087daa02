// The heap: the embedder's allocator of the driver, which fails for threads that want it to.
//
// Layer:   stress
// Threads: any; whether a thread's allocations fail is its own choice.
// SPDX-License-Identifier: MIT

#ifndef STRESS_DRIVER_HEAP_H
#define STRESS_DRIVER_HEAP_H

#include <stdbool.h>
#include <stdint.h>

// Makes it the library's allocator. Before the library allocates anything.
void stress_heap_install(void);

// From now on one in `one_in` allocations of the calling thread fails, now and then several in a
// row; 0: none does. The choices are those of `seed`.
void stress_heap_fail(uint32_t one_in, uint32_t seed);

// Between the two, nothing of the calling thread fails. Nests.
void stress_heap_hold(void);
void stress_heap_go_on(void);

// While it is exhausted, everything fails for the threads of which anything does.
void stress_heap_exhaust(bool is_exhausted);

// While they are refused, the calling thread's maps fail, which blocks of threads and pages of
// announcements lie in. Only those of the program's own objects, of which the library is one here:
// liburcu-bp ends the process when it cannot map.
void stress_heap_refuse_maps(bool are_refused);

// Allocations of the calling thread that have failed.
uint64_t stress_heap_failure_count(void);

// What the library has, by the heap's own count: bytes, and in how many pieces.
uint64_t stress_heap_live_bytes(void);
uint64_t stress_heap_live_pieces(void);

#endif // STRESS_DRIVER_HEAP_H
