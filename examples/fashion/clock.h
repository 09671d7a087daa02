// Clock: monotonic time in nanoseconds.
//
// Layer:     example (C library only)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_CLOCK_H
#define FASHION_CLOCK_H

#include <stdint.h>
#include <time.h>

#define FASHION_NS_PER_S UINT64_C(1000000000)

static inline uint64_t fashion_clock_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); // cannot fail for this clock
    return (uint64_t)now.tv_sec * FASHION_NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif // FASHION_CLOCK_H
