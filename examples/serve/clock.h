// Clock: nanoseconds since some moment in the past, and waiting for one to come.
//
// Layer:   example (C library only)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SERVE_CLOCK_H
#define SERVE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t serve_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline struct timespec serve_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / UINT64_C(1000000000)),
                             .tv_nsec = (long)(ns % UINT64_C(1000000000))};
}

/// Makes a condition whose timed waits go by this clock, and its mutex.
static inline void serve_monotonic_init(pthread_mutex_t *mutex, pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(mutex, NULL);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

#endif // SERVE_CLOCK_H
