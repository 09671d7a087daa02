// Clock: nanoseconds since some moment in the past.
//
// Layer:   example (C library only)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SERVE_CLOCK_H
#define SERVE_CLOCK_H

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

#endif // SERVE_CLOCK_H
