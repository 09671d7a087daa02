// Pauses: waiting for what nobody tells, with looks that become rarer, for a limited time.
//
// Layer:   base
// Threads: a pause belongs to one thread.
// SPDX-License-Identifier: MIT

#include "base/pause.h"

#include <time.h>

#include "base/clock.h"
#include "base/schedule.h"

// Between two looks: short at first, since most calls are, then rarely enough to cost nothing.
#define FIRST_PAUSE_NS 20000
#define LONGEST_PAUSE_NS 2000000

uint64_t kwi_later_ns(uint64_t timeout_ns)
{
    uint64_t now = kwi_clock_ns();
    return timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
}

kwi_pause kwi_pause_begin(uint64_t timeout_ns)
{
    return (kwi_pause){.end_ns = kwi_later_ns(timeout_ns), .pause_ns = FIRST_PAUSE_NS};
}

bool kwi_pause_next(kwi_pause *pause)
{
    if (KWI_STEP_WAITS(PAUSE, pause)) {
        return pause->end_ns > 0;
    }
    uint64_t now = kwi_clock_ns();
    if (now >= pause->end_ns) {
        return false;
    }
    uint64_t left = pause->end_ns - now;
    uint64_t length = left < pause->pause_ns ? left : pause->pause_ns;
    const struct timespec time = {.tv_nsec = (long)length};
    (void)nanosleep(&time, NULL);
    pause->pause_ns = pause->pause_ns < LONGEST_PAUSE_NS ? pause->pause_ns * 2 : pause->pause_ns;
    return true;
}
