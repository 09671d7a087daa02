// Run: all of one measurement, from the loaded data to the figures of the report.
//
// Layer:     example (uses workers, swapper)
// Threads:   the controlling thread; it starts the workers and the swapper and joins them
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_RUN_H
#define FASHION_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "dataset.h"
#include "histogram.h"
#include "options.h"
#include "reference.h"
#include "swaps.h"
#include "weights.h"
#include "workers.h"

typedef struct fashion_inputs {
    fashion_dataset dataset;
    fashion_reference reference;
    fashion_weights weights;
} fashion_inputs;

typedef struct fashion_result {
    fashion_figures figures;
    double seconds;
    double phase_seconds[FASHION_PHASE_COUNT];
    fashion_histogram latency[FASHION_PHASE_COUNT];
    uint64_t commit_count;
    uint64_t swap_counts[FASHION_SWAP_COUNT];
    fashion_plugins_result plugins; // with --plugins; else zero
    uint64_t traced_count;
    uint64_t autograd_count;

    // After the last change, before the clearing up.
    uint64_t retired_count;    // replaced tables that are not freed
    uint64_t held_count;       // replaced kernels that are not destroyed
    uint64_t registered_count; // kernels that serve

    // After the clearing up.
    fashion_ledger_counts ledger;
    uint64_t refused_count;      // changes that failed
    fashion_error first_problem; // of any sort; empty: none
} fashion_result;

/// Runs the workers and the swapper as the options say. On failure nothing could be measured.
bool fashion_run(const fashion_options *options, const fashion_inputs *inputs,
                 fashion_result *out_result, fashion_error *err);

/// Returns how often something failed: calls, changes, kernels whose data ended too early or never,
/// and plugins that left something behind.
uint64_t fashion_result_failed_count(const fashion_result *result);

#endif // FASHION_RUN_H
