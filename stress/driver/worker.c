// Workers: the threads of a scenario, their random choices and their counts.
//
// Layer:   stress
// Threads: see worker.h.
// SPDX-License-Identifier: MIT

#include "driver/worker.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define JOIN_SECONDS 60 // under a sanitizer and on a busy machine a drain takes its time

static stress_worker workers[STRESS_WORKER_LIMIT];
static unsigned worker_count;
static stress_worker main_worker = {.random = 1};
static atomic_bool is_stopped;

static _Thread_local stress_worker *self;

stress_worker *stress_worker_self(void)
{
    return self != NULL ? self : &main_worker;
}

static void *worker_main(void *argument)
{
    self = argument;
    self->run(self);
    return NULL;
}

// Spreads neighbouring seeds: the finish of splitmix (Steele and others, 2014), never 0.
static uint32_t mix(uint32_t seed, uint32_t number)
{
    uint64_t z = ((uint64_t)seed << 32 | number) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 32) | 1;
}

void stress_workers_start(unsigned count, void (*run)(stress_worker *worker), void *context,
                          const stress_options *options)
{
    for (unsigned i = 0; i < count && worker_count < STRESS_WORKER_LIMIT; i++) {
        stress_worker *worker = &workers[worker_count++];
        *worker = (stress_worker){
            .run = run,
            .context = context,
            .index = i,
            .random = mix(options->seed, worker_count),
        };
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0) {
            stress_give_up("a thread cannot be started");
        }
    }
}

void stress_workers_stop(void)
{
    stress_stop();
    struct timespec deadline;
    (void)clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += JOIN_SECONDS;
    for (unsigned i = 0; i < worker_count; i++) {
        if (pthread_timedjoin_np(workers[i].thread, NULL, &deadline) != 0) {
            stress_violation("hang", "a thread does not end %d s after the others", JOIN_SECONDS);
            stress_give_up("a thread hangs");
        }
    }
}

void stress_workers_forget(void)
{
    worker_count = 0;
    main_worker = (stress_worker){.random = 1};
    atomic_store(&is_stopped, false);
}

void stress_workers_signal(void (*run)(stress_worker *worker), int number)
{
    for (unsigned i = 0; i < worker_count; i++) {
        if (workers[i].run == run) {
            (void)pthread_kill(workers[i].thread, number);
        }
    }
}

bool stress_goes_on(void)
{
    return !atomic_load_explicit(&is_stopped, memory_order_relaxed);
}

void stress_stop(void)
{
    atomic_store_explicit(&is_stopped, true, memory_order_relaxed);
}

void stress_count_add(stress_count count)
{
    atomic_fetch_add_explicit(&stress_worker_self()->counts[count], 1, memory_order_relaxed);
}

uint64_t stress_count_total(stress_count count)
{
    uint64_t total = atomic_load_explicit(&main_worker.counts[count], memory_order_relaxed);
    for (unsigned i = 0; i < worker_count; i++) {
        total += atomic_load_explicit(&workers[i].counts[count], memory_order_relaxed);
    }
    return total;
}
