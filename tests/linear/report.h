// Reports: a window that is not linearisable, as a diagram of its times.
//
// Layer:   test
// Threads: one thread, when the others rest.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_REPORT_H
#define TESTS_LINEAR_REPORT_H

#include "linear/checker.h"

// Prints a window that the checker refuses, shrunk, with the states that it begins in.
void linear_report(linear_checker *checker, const linear_window *window);

// Prints events as bars below each other.
void linear_report_diagram(const linear_event *events, uint32_t count);

#endif // TESTS_LINEAR_REPORT_H
