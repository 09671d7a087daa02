// Batcher: gathers waiting requests into batches, and runs each under one snapshot.
//
// Layer:   example (uses network, watch, origin)
// Threads: requests come from any thread; batches run in the batcher's own
// SPDX-License-Identifier: MIT
//
// Note [One batch, one version]
//
// A worker opens a snapshot around a batch, so that the layers of one answer are of one version of
// the registry, whatever an operator of the server commits meanwhile. Requests for the canary are
// batched apart: the include set is the thread's, so it holds for a whole batch. What served is
// looked up under the same snapshot.

#ifndef SERVE_BATCHER_H
#define SERVE_BATCHER_H

#include <fashion/dataset.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "histogram.h"
#include "network.h"
#include "origin.h"

enum {
    SERVE_BATCH_MAX = 64,
    SERVE_WORKERS_MAX = 64
};

typedef enum serve_lane {
    SERVE_LANE_PLAIN = 0,
    SERVE_LANE_CANARY = 1, // with the backend Canary in the include set, if its kernels are there
    SERVE_LANE_COUNT = 2
} serve_lane;

// One request. Made by the caller, who gets it back through `done`.
typedef struct serve_job {
    serve_lane lane;
    uint8_t pixels[FASHION_IMAGE_PIXELS];
    void (*done)(struct serve_job *job); // in a worker; the job is the caller's again

    kw_status status; // the answer; what follows is set if it is KW_OK, `error` if not
    char error[256];
    float logits[FASHION_CLASSES];
    float probabilities[FASHION_CLASSES];
    uint64_t version; // of the snapshot
    size_t batch;     // images in the batch
    bool is_canary;   // the backend Canary was in the include set
    char served[SERVE_OP_COUNT][SERVE_LABEL_BYTES];

    struct serve_job *next; // guard: the batcher's mutex while the job waits
    uint64_t queued_ns;
} serve_job;

typedef struct serve_batcher_options {
    size_t worker_count; // SERVE_WORKERS_MAX at most
    size_t batch_max;    // images; SERVE_BATCH_MAX at most
    uint64_t wait_ns;    // how long the oldest request of a batch waits for others
    size_t queue_max;    // requests that wait; more are refused
} serve_batcher_options;

typedef struct serve_batcher serve_batcher; // opaque

/// Figures that any thread may read.
typedef struct serve_batcher_figures {
    serve_histogram batch_sizes;
    serve_histogram wait_ns; // from the submission to the start of the batch
} serve_batcher_figures;

/// Starts the workers. Network and origins are borrowed and outlive the batcher.
kw_status serve_batcher_create(const serve_batcher_options *options, const serve_network *network,
                               serve_origins *origins, serve_batcher **out_batcher, kw_error *err);

/// Runs what waits, then ends the workers. Jobs are refused from here on. NULL is allowed.
void serve_batcher_end(serve_batcher *batcher);

/// The same, and frees it. NULL is allowed.
void serve_batcher_destroy(serve_batcher *batcher);

/// Queues a job. On false the queue is full, or the batcher ends; the job stays the caller's.
bool serve_batcher_submit(serve_batcher *batcher, serve_job *take_job);

/// Returns how many jobs wait at this moment.
size_t serve_batcher_waiting(serve_batcher *batcher);

serve_batcher_figures *serve_batcher_figures_of(serve_batcher *batcher);

#endif // SERVE_BATCHER_H
