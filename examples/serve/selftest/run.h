// Run: one self-test from the start of the server to its end.
//
// Layer:   example (uses all of the self-test)
// Threads: one
// SPDX-License-Identifier: MIT

#ifndef SELFTEST_RUN_H
#define SELFTEST_RUN_H

#include "checker.h"
#include "findings.h"
#include "load.h"
#include "memory.h"
#include "options.h"
#include "oracle.h"
#include "plugins_seen.h"
#include "swaps.h"
#include "wrk.h"

// What a run has found out. What it did not come to is zero.
typedef struct selftest_result {
    selftest_findings findings;
    double seconds; // that it took, without the reference
    pid_t server;
    size_t image_count;
    fashion_source source;
    float recorded_distance;
    double reference_seconds;
    selftest_name plugins[SELFTEST_PLUGINS_MAX];
    size_t plugin_count;
    uint64_t requests;
    selftest_totals totals;
    selftest_figures figures[SELFTEST_PHASE_COUNT];
    selftest_swaps_totals swaps;
    size_t pairs; // of version and backend that answers were compared in
    selftest_memory memory;
    selftest_plugins_seen last; // at the last rest
    bool has_last;
    selftest_wrk wrk;
    char end[256]; // the server's last line
} selftest_result;

/// Makes it, and fills the result in either case.
void selftest_run(const selftest_options *options, selftest_result *out_result);

/// Ends a run early, which is a finding. Async-signal-safe.
void selftest_run_interrupt(void);

/// The share of int8 answers whose class is the reference's; 1 without one.
double selftest_int8_agreement(const selftest_totals *totals);

#endif // SELFTEST_RUN_H
