// Options of keyway-explore.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#ifndef EXPLORE_OPTIONS_H
#define EXPLORE_OPTIONS_H

#include <stdbool.h>

#include "base/yield.h"

#define EXPLORE_DEFAULT_BOUND (-2)

typedef struct explore_options {
    const char *name; // of a case, or "all"
    int bound;        // EXPLORE_UNBOUNDED, EXPLORE_DEFAULT_BOUND: what the case says
    kwi_fault fault;
    const char *schedule; // NULL: explore
    const char *json;     // a file; NULL: none
    bool proves_faults;
    bool goes_over; // searches on from states that were reached before
    double seconds; // for each case; 0: no limit
} explore_options;

typedef enum explore_parsed {
    EXPLORE_PARSED,
    EXPLORE_DONE,    // nothing is left to do
    EXPLORE_REFUSED, // and said so
} explore_parsed;

explore_parsed explore_options_parse(int argc, char **argv, explore_options *out_options);

const char *explore_fault_name(kwi_fault fault);
kwi_fault explore_fault_count(void); // KWI_FAULT_NONE among them

#endif // EXPLORE_OPTIONS_H
