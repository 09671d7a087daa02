// Options of the stress driver.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#ifndef STRESS_DRIVER_OPTIONS_H
#define STRESS_DRIVER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/yield.h"

#define STRESS_RUN_LIMIT 32

typedef struct stress_options {
    const char *scenario; // a scenario's name, or "all"
    const char *json;     // where the result is written; NULL: nowhere
    double seconds;       // of all scenarios together; for each fault the limit
    unsigned thread_count;
    uint32_t seed;
    uint32_t delay_one_in; // one schedule point in so many waits; 0: none
    kwi_fault fault;
    bool proves_faults; // runs every fault and expects that each is caught
    bool is_markdown;   // and prints the table as documents have it
    unsigned run_count; // and repeats each proof so often

    // Of the scenario "user".
    const char *plugin; // a file; NULL: none
    const char *op;     // a name, or a whole declaration; NULL: the only one that it has
    const char *keys;
    bool varies; // the operator may answer differently each time
} stress_options;

typedef enum stress_parse_result {
    STRESS_OPTIONS_PARSED,
    STRESS_OPTIONS_DONE,    // help or a list was printed
    STRESS_OPTIONS_REFUSED, // a bad option; said which on stderr
} stress_parse_result;

stress_parse_result stress_options_parse(int argc, char **argv, stress_options *out_options);

// Writes the command line that repeats a run of `scenario`.
void stress_options_print(const stress_options *options, const char *scenario, FILE *file);

const char *stress_fault_name(kwi_fault fault);

#endif // STRESS_DRIVER_OPTIONS_H
