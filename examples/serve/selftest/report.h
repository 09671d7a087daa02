// Report: what a run has found out, for people and for programs.
//
// Layer:   example (uses run; needs jansson)
// Threads: one
// SPDX-License-Identifier: MIT

#ifndef SELFTEST_REPORT_H
#define SELFTEST_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "options.h"
#include "run.h"

/// Prints the report.
void selftest_report_print(FILE *out, const selftest_options *options, selftest_result *result);

/// Writes it as one JSON object, whose members README.md lists. False: the file cannot be written.
bool selftest_report_json(const char *path, const selftest_options *options,
                          selftest_result *result);

#endif // SELFTEST_REPORT_H
