// Workers: the threads of a scenario, their random choices and their counts.
//
// Layer:   stress
// Threads: a worker belongs to its thread; counts are read by the main thread.
// SPDX-License-Identifier: MIT

#ifndef STRESS_DRIVER_WORKER_H
#define STRESS_DRIVER_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "driver/options.h"
#include "driver/report.h"

#define STRESS_WORKER_LIMIT 160

typedef struct stress_worker stress_worker;
struct stress_worker {
    void (*run)(stress_worker *worker);
    void *context;
    unsigned index; // among those that were started together
    uint32_t random;
    pthread_t thread;
    _Atomic uint64_t counts[STRESS_COUNT_LIMIT];
};

// Starts `count` threads that run `run`, each with random choices of its own.
void stress_workers_start(unsigned count, void (*run)(stress_worker *worker), void *context,
                          const stress_options *options);

// Tells all workers to stop, joins them, and counts what they did. A worker that does not stop is a
// violation.
void stress_workers_stop(void);
void stress_workers_forget(void);

// Sends a signal to every worker that runs `run`.
void stress_workers_signal(void (*run)(stress_worker *worker), int number);

// The calling thread's worker. Threads that the scenario did not start have one too.
stress_worker *stress_worker_self(void);

bool stress_goes_on(void);
void stress_stop(void);

void stress_count_add(stress_count count);
uint64_t stress_count_total(stress_count count);

static inline uint32_t stress_random_step(uint32_t *state)
{
    // Marsaglia, "Xorshift RNGs", 2003. `*state` is never 0.
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

// A number below `limit`.
static inline uint32_t stress_random(stress_worker *worker, uint32_t limit)
{
    return (uint32_t)((uint64_t)stress_random_step(&worker->random) * limit >> 32);
}

// True once in `limit` times.
static inline bool stress_chance(stress_worker *worker, uint32_t limit)
{
    return stress_random(worker, limit) == 0;
}

#endif // STRESS_DRIVER_WORKER_H
