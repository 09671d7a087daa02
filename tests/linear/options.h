// Options of the program `linear`.
//
// Layer:   test
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_OPTIONS_H
#define TESTS_LINEAR_OPTIONS_H

#include <stdint.h>

#include "base/yield.h"

typedef struct linear_options {
    double seconds;
    unsigned thread_count;
    uint32_t seed;
    uint32_t delay_one_in;
    kwi_fault fault;
    uint64_t pair_limit;
    const char *dump;  // NULL: nowhere
    const char *check; // NULL: histories are made
} linear_options;

typedef enum linear_parse_result {
    LINEAR_OPTIONS_READY,
    LINEAR_OPTIONS_DONE, // help was asked for
    LINEAR_OPTIONS_REFUSED,
} linear_parse_result;

linear_parse_result linear_options_parse(int argc, char **argv, linear_options *out_options);

const char *linear_fault_name(kwi_fault fault);

#endif // TESTS_LINEAR_OPTIONS_H
