// Report: the figures of a run, for people and for programs.
//
// Layer:     example (uses run)
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_REPORT_H
#define FASHION_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "run.h"

/// Prints what is about to happen.
void fashion_report_plan(FILE *file, const fashion_options *options,
                         const fashion_dataset *dataset);

/// Prints the report.
void fashion_report_print(FILE *file, const fashion_options *options,
                          const fashion_dataset *dataset, const fashion_result *result);

/// Writes one JSON object and nothing else. Returns whether it could.
bool fashion_report_json(FILE *file, const fashion_options *options, const fashion_result *result);

#endif // FASHION_REPORT_H
