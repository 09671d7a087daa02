// Batch: runs the network once for some requests, under a snapshot.
//
// Layer:   example (uses batcher.h's jobs, watch, origin)
// Threads: the worker that runs it
// SPDX-License-Identifier: MIT

#ifndef SERVE_BATCH_H
#define SERVE_BATCH_H

#include "batcher.h"
#include "watch.h"

/// Sets the answer of each job, which are of one lane; at least one, SERVE_BATCH_MAX at most. The
/// thread's context is a serve_served that the observer writes.
void serve_batch_run(const serve_network *network, serve_origins *origins, serve_served *served,
                     serve_job *const *jobs, size_t count);

#endif // SERVE_BATCH_H
