// Phases: runs workers and swapper in turns with and without changes, until the work is done.
//
// Layer:     example (uses run's result, workers, swapper, progress)
// Threads:   the controlling thread
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// Note [Fair comparison]
//
// Latencies with and without changes are compared on a machine whose speed changes while it runs,
// and they depend on which kernels are in place: OpenBLAS is twice as fast as plain C. So there are
// many short rounds, each with a phase of changes and a quiet one, and a quiet phase keeps the
// kernels that the changes happened to leave. Over all rounds both kinds of phases see the same
// mixture of kernels and the same machine.

#ifndef FASHION_PHASES_H
#define FASHION_PHASES_H

#include <stdbool.h>

#include "options.h"
#include "run.h"

/// Starts everything, waits for the end and joins all threads. Fills in the durations.
bool fashion_phases_run(const fashion_options *options, fashion_work *work, fashion_worker *workers,
                        fashion_swaps *swaps, fashion_result *result, fashion_error *err);

#endif // FASHION_PHASES_H
