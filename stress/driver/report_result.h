// The report, from inside: what a scenario's run has come to, and the forms in which that is told.
//
// Layer:   stress
// Threads: peaks are raised by any thread; the rest is the main thread's.
// SPDX-License-Identifier: MIT

#ifndef STRESS_DRIVER_REPORT_RESULT_H
#define STRESS_DRIVER_REPORT_RESULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/seen.h"
#include "driver/report.h"

typedef struct stress_result {
    const char *scenario;
    double seconds;
    unsigned violations;
    char first_violation[512];
    uint64_t counts[STRESS_COUNT_LIMIT];
    uint64_t seen[KWI_SEEN_LIMIT];
    uint64_t start_bytes;
    uint64_t end_bytes;
    _Atomic uint64_t peak_bytes;
    _Atomic uint64_t peak_retired;
} stress_result;

const char *stress_count_text(unsigned count);
const char *stress_seen_text(unsigned seen);

// Adds up what several scenarios have come to, one after the other.
void stress_result_add(stress_result *sum, const stress_result *each);

// Prints operations, interleavings and memory in two columns. An interleaving that a run of half a
// minute never met is marked.
void stress_result_print(const stress_result *result);

// Writes one result as a JSON object, or a text as a JSON string.
void stress_result_write(const stress_result *result, FILE *file);
void stress_json_string(const char *text, FILE *file);

#endif // STRESS_DRIVER_REPORT_RESULT_H
