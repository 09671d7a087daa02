// Checker: what is looked at in every answer, and what is counted.
//
// Layer:   example (uses wire, oracle, history)
// Threads: the one that asks
// SPDX-License-Identifier: MIT

#ifndef SELFTEST_CHECKER_H
#define SELFTEST_CHECKER_H

#include <stddef.h>
#include <stdint.h>

#include "findings.h"
#include "history.h"
#include "oracle.h"
#include "wire.h"

typedef enum selftest_backend {
    SELFTEST_BACKEND_ANY = 0, // no header: the percentage decides
    SELFTEST_BACKEND_CANARY = 1,
    SELFTEST_BACKEND_DEFAULT = 2
} selftest_backend;

// A request on its way.
typedef struct selftest_asked {
    size_t image;
    selftest_backend backend;
    uint64_t sent_ns;
    uint64_t least_version; // that its answer has
} selftest_asked;

typedef enum selftest_outcome {
    SELFTEST_OUTCOME_ANSWERED = 0, // right or wrong
    SELFTEST_OUTCOME_REFUSED = 1,  // rightly: there was no canary
    SELFTEST_OUTCOME_FAILED = 2
} selftest_outcome;

typedef struct selftest_totals {
    uint64_t answered;       // right or wrong
    uint64_t canary;         // answered with the backend Canary in the include set
    uint64_t canary_refused; // 409, while no plugin had kernels for it
    uint64_t int8;           // that int8 kernels may have computed
    uint64_t int8_agree;     // and whose class is the reference's
    float int8_distance;     // the largest
    float float_distance;    // likewise, of all others
    uint64_t images;         // different ones that were answered
} selftest_totals;

typedef struct selftest_checker {
    const selftest_oracle *oracle; // borrowed, as the two that follow
    selftest_history *history;
    selftest_findings *findings;
    uint8_t *is_answered; // owned; by image
    selftest_totals totals;
} selftest_checker;

/// Returns false if memory is out.
bool selftest_checker_init(selftest_checker *out_checker, const selftest_oracle *oracle,
                           selftest_history *history, selftest_findings *findings);
void selftest_checker_fini(selftest_checker *checker);

/// Checks the reply to a request, which came now. What is wrong with it is a finding.
selftest_outcome selftest_checker_take(selftest_checker *checker, const selftest_asked *asked,
                                       uint64_t now_ns, const selftest_reply *reply);

#endif // SELFTEST_CHECKER_H
