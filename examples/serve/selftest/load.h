// Load: a client that keeps some connections busy, and checks every answer.
//
// Layer:   example (uses wire, checker)
// Threads: one thread of its own asks; another one starts, pauses and ends it
// SPDX-License-Identifier: MIT
//
// Each connection asks again as soon as it has an answer, so there are as many requests on their
// way as connections. A share of them carries the header that asks for the canary, or refuses it.

#ifndef SELFTEST_LOAD_H
#define SELFTEST_LOAD_H

#include <fashion/histogram.h>
#include <stdbool.h>
#include <stdint.h>

#include "checker.h"
#include "findings.h"
#include "history.h"
#include "oracle.h"

// What the figures of a request are added to.
typedef enum selftest_phase {
    SELFTEST_PHASE_WARM = 0,
    SELFTEST_PHASE_QUIET = 1, // nothing is changed
    SELFTEST_PHASE_SWAPS = 2,
    SELFTEST_PHASE_COUNT = 3
} selftest_phase;

typedef struct selftest_figures {
    uint64_t answered; // right or wrong
    uint64_t ns;       // that the phase lasted
    fashion_histogram latency_ns;
} selftest_figures;

typedef struct selftest_load_options {
    uint16_t port;
    unsigned connections;
    unsigned hang_ms;
    uint64_t seed;
    const selftest_oracle *oracle; // borrowed, as what follows
    selftest_history *history;
    selftest_checker *checker;
    selftest_findings *findings;
} selftest_load_options;

typedef struct selftest_load selftest_load; // opaque

/// Connects, and waits for a phase. NULL: a finding says why.
selftest_load *selftest_load_create(const selftest_load_options *options);

/// Ends it. NULL is allowed.
void selftest_load_destroy(selftest_load *load);

/// Asks, in a phase.
void selftest_load_run(selftest_load *load, selftest_phase phase);

/// Waits until every request is answered. On false it has given up, and a finding says why.
bool selftest_load_pause(selftest_load *load);

/// Whether it has given up: an answer does not come, or no connection can be made.
bool selftest_load_has_given_up(const selftest_load *load);

/// What was counted; while it pauses.
const selftest_figures *selftest_load_figures(const selftest_load *load, selftest_phase phase);

/// How many requests were sent, and answered, up to this moment.
uint64_t selftest_load_requests(const selftest_load *load);
uint64_t selftest_load_answered(const selftest_load *load);

#endif // SELFTEST_LOAD_H
