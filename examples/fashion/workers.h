// Workers: the threads that classify images and check every answer.
//
// Layer:     example (uses model, dataset, reference, histogram, request)
// Threads:   see each field
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_WORKERS_H
#define FASHION_WORKERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dataset.h"
#include "error.h"
#include "histogram.h"
#include "model.h"
#include "reference.h"
#include "request.h"

typedef enum fashion_phase {
    FASHION_PHASE_QUIET = 0,    // no kernel changes
    FASHION_PHASE_SWAPPING = 1, // kernels change
    FASHION_PHASE_BETWEEN = 2,  // the swapper is being paused, or the phase changes meanwhile
    FASHION_PHASE_COUNT = 3,
} fashion_phase;

// What all workers share. A ticket is the number of an image to classify, from 0; image numbers
// start again after the last.
typedef struct fashion_work {
    const fashion_model *model;
    const fashion_dataset *dataset;
    const fashion_reference *reference;
    atomic_ullong next_ticket; // relaxed: hands out numbers, no memory
    atomic_ullong end_ticket;  // relaxed: the first one that is not worked on
    atomic_uint phase;         // relaxed: a label for latencies
    atomic_size_t busy_count;  // relaxed: workers that have not ended
} fashion_work;

typedef struct fashion_figures {
    uint64_t image_count;
    uint64_t correct_count; // the label's class
    uint64_t wrong_count;   // another answer than the recorded one
    uint64_t failed_count;  // a call returned an error
} fashion_figures;

typedef struct fashion_worker {
    fashion_work *work; // borrowed
    pthread_t thread;
    bool is_started;

    // Relaxed: written by the worker, read by the progress line.
    atomic_ullong image_count;
    atomic_ullong correct_count;
    atomic_ullong wrong_count;
    atomic_ullong failed_count;

    // The worker's own until it has been joined.
    fashion_request request;
    fashion_histogram latency[FASHION_PHASE_COUNT];
    fashion_error first_problem; // empty: none
} fashion_worker;

/// Starts `count` workers in zeroed memory. On failure those that started are still to be joined.
bool fashion_workers_start(fashion_worker *workers, size_t count, fashion_work *work,
                           fashion_error *err);

/// Waits for the end of the workers.
void fashion_workers_join(fashion_worker *workers, size_t count);

/// Adds up the figures; while workers run, as of about now.
fashion_figures fashion_workers_read(fashion_worker *workers, size_t count);

#endif // FASHION_WORKERS_H
