// Clocks: the time that ages and waits are measured with, in nanoseconds since some start.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT

#include "base/clock.h"

#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now); // cannot fail for these clocks
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t kwi_clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t kwi_clock_tick_ns(void)
{
#ifdef CLOCK_MONOTONIC_COARSE
    return read_clock(CLOCK_MONOTONIC_COARSE);
#else
    return read_clock(CLOCK_MONOTONIC);
#endif
}
