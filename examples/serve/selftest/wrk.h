// Wrk: a second client, which is not ours, beside the changes.
//
// Layer:   example (uses child, oracle)
// Threads: one
// SPDX-License-Identifier: MIT

#ifndef SELFTEST_WRK_H
#define SELFTEST_WRK_H

#include <stdbool.h>
#include <stdint.h>

#include "child.h"
#include "findings.h"
#include "oracle.h"

typedef struct selftest_wrk {
    bool has_run;
    uint64_t right;
    uint64_t wrong;
    uint64_t refused; // answered with another status than 200
    uint64_t broken;  // connections, reads and writes that failed, and time-outs
    double seconds;
    double p50_us;
    double p99_us;
    double p999_us;
    uint64_t image_count;
} selftest_wrk;

/// Whether the machine has it.
bool selftest_wrk_is_there(void);

/// Lets it ask for some seconds, with images whose class no rounding of int8 kernels can turn.
/// What goes wrong is a finding. The image file is made in `folder`.
void selftest_wrk_run(selftest_wrk *out_wrk, unsigned seconds, const char *folder,
                      const selftest_child *child, const selftest_oracle *oracle,
                      selftest_findings *findings);

#endif // SELFTEST_WRK_H
