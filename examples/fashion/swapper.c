// Swapper: the thread that makes the changes, at a steady rate, and can be paused.
//
// Layer:     example (uses swaps)
// Threads:   see the header
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "swapper.h"

#include <string.h>
#include <time.h>

#include "clock.h"

// Changes that fell due while the machine did something else are made up for, but not more than
// this.
#define LONGEST_DEBT_NS UINT64_C(50000000)

// Waits, inside the mutex, until the next change is due or another mode is wanted.
static void wait_until(fashion_swapper *swapper, uint64_t due_ns)
{
    const struct timespec due = {.tv_sec = (time_t)(due_ns / FASHION_NS_PER_S),
                                 .tv_nsec = (long)(due_ns % FASHION_NS_PER_S)};
    int status = 0;
    while (status == 0 && swapper->mode == FASHION_SWAPPER_RUN && fashion_clock_ns() < due_ns) {
        status = pthread_cond_timedwait(&swapper->changed, &swapper->mutex, &due);
    }
}

// Makes changes until another mode is wanted, and returns how long after that the next one is due.
// Inside the mutex, but for the changes themselves.
static uint64_t make_changes(fashion_swapper *swapper, uint64_t first_after_ns)
{
    uint64_t due_ns = fashion_clock_ns() + first_after_ns;
    for (;;) {
        wait_until(swapper, due_ns);
        uint64_t now_ns = fashion_clock_ns();
        if (swapper->mode != FASHION_SWAPPER_RUN) {
            return due_ns > now_ns ? due_ns - now_ns : 0;
        }
        (void)pthread_mutex_unlock(&swapper->mutex);
        fashion_swaps_step(swapper->swaps);
        (void)pthread_mutex_lock(&swapper->mutex);
        now_ns = fashion_clock_ns();
        due_ns += swapper->period_ns;
        if (due_ns + LONGEST_DEBT_NS < now_ns) {
            due_ns = now_ns;
        }
    }
}

static void *swap_kernels(void *context)
{
    fashion_swapper *swapper = context;
    uint64_t next_after_ns = swapper->period_ns;
    (void)pthread_mutex_lock(&swapper->mutex);
    while (swapper->mode != FASHION_SWAPPER_STOP) {
        if (swapper->mode == FASHION_SWAPPER_RUN) {
            swapper->is_idle = false;
            next_after_ns = make_changes(swapper, next_after_ns);
            (void)pthread_mutex_unlock(&swapper->mutex);
            fashion_swaps_settle(swapper->swaps);
            (void)pthread_mutex_lock(&swapper->mutex);
            continue;
        }
        swapper->is_idle = true;
        (void)pthread_cond_broadcast(&swapper->changed);
        (void)pthread_cond_wait(&swapper->changed, &swapper->mutex);
    }
    (void)pthread_mutex_unlock(&swapper->mutex);
    return NULL;
}

static void init_monotonic(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

bool fashion_swapper_start(fashion_swapper *swapper, fashion_swaps *swaps,
                           uint64_t swaps_per_second, fashion_error *err)
{
    *swapper = (fashion_swapper){.swaps = swaps, .is_idle = true};
    if (swaps_per_second == 0) {
        return true;
    }
    swapper->period_ns = FASHION_NS_PER_S / swaps_per_second;
    (void)pthread_mutex_init(&swapper->mutex, NULL);
    init_monotonic(&swapper->changed);
    const int number = pthread_create(&swapper->thread, NULL, swap_kernels, swapper);
    if (number != 0) {
        fashion_error_set_errno(err, "the swapper's thread", number);
        swapper->period_ns = 0;
        return false;
    }
    return true;
}

static void set_mode(fashion_swapper *swapper, fashion_swapper_mode mode)
{
    swapper->mode = mode;
    (void)pthread_cond_broadcast(&swapper->changed);
}

void fashion_swapper_resume(fashion_swapper *swapper)
{
    if (swapper->period_ns != 0) {
        (void)pthread_mutex_lock(&swapper->mutex);
        swapper->is_idle = false;
        set_mode(swapper, FASHION_SWAPPER_RUN);
        (void)pthread_mutex_unlock(&swapper->mutex);
    }
}

void fashion_swapper_pause(fashion_swapper *swapper)
{
    if (swapper->period_ns != 0) {
        (void)pthread_mutex_lock(&swapper->mutex);
        set_mode(swapper, FASHION_SWAPPER_PAUSE);
        while (!swapper->is_idle) {
            (void)pthread_cond_wait(&swapper->changed, &swapper->mutex);
        }
        (void)pthread_mutex_unlock(&swapper->mutex);
    }
}

void fashion_swapper_stop(fashion_swapper *swapper)
{
    if (swapper->period_ns != 0) {
        (void)pthread_mutex_lock(&swapper->mutex);
        set_mode(swapper, FASHION_SWAPPER_STOP);
        (void)pthread_mutex_unlock(&swapper->mutex);
        (void)pthread_join(swapper->thread, NULL);
        (void)pthread_cond_destroy(&swapper->changed);
        (void)pthread_mutex_destroy(&swapper->mutex);
        swapper->period_ns = 0;
    }
}
