// Swapper: the thread that makes the changes, at a steady rate, and can be paused.
//
// Layer:     example (uses swaps)
// Threads:   every function but the thread itself belongs to the controlling thread
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_SWAPPER_H
#define FASHION_SWAPPER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "swaps.h"

typedef enum fashion_swapper_mode {
    FASHION_SWAPPER_PAUSE = 0,
    FASHION_SWAPPER_RUN = 1,
    FASHION_SWAPPER_STOP = 2,
} fashion_swapper_mode;

typedef struct fashion_swapper {
    fashion_swaps *swaps; // borrowed; the thread's own while it runs
    uint64_t period_ns;   // 0: never
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;    // `mode` or `is_idle`
    fashion_swapper_mode mode; // guard: mutex
    bool is_idle;              // guard: mutex
} fashion_swapper;

/// Starts the thread, paused. With a rate of 0 there is none and the other functions do nothing.
bool fashion_swapper_start(fashion_swapper *swapper, fashion_swaps *swaps,
                           uint64_t swaps_per_second, fashion_error *err);

/// Lets the thread go on.
void fashion_swapper_resume(fashion_swapper *swapper);

/// Returns when the thread makes no change and the libraries that it replaced are destroyed.
void fashion_swapper_pause(fashion_swapper *swapper);

/// Ends the thread.
void fashion_swapper_stop(fashion_swapper *swapper);

#endif // FASHION_SWAPPER_H
