// Workers: the threads that ask the library while others do.
//
// Layer:   test
// Threads: one thread starts and joins them, and works only while they rest.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_WORKER_H
#define TESTS_LINEAR_WORKER_H

#include <stdint.h>

#include "linear/generator.h"
#include "linear/recorder.h"

#define LINEAR_MOST_THREADS 8

typedef struct linear_worker {
    linear_recorder recorder; // of the last window
    linear_generator generator;
} linear_worker;

extern linear_worker linear_workers[LINEAR_MOST_THREADS];

void linear_workers_start(unsigned count);
void linear_workers_join(void);

// Marks start anew, each worker with a range of its own, and seeds with this one.
void linear_workers_seed(uint32_t seed);

// All do so many operations, as they like, from what the plan says; returns when all rest.
void linear_workers_run(const linear_plan *plan, uint32_t operation_count);

#endif // TESTS_LINEAR_WORKER_H
