// Test failure: the sentences of the plugins' tests, and the end of one that cannot go on.
//
// Layer:   example (C library only)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SERVE_TEST_FAILURE_H
#define SERVE_TEST_FAILURE_H

#include <stdarg.h>
#include <stdbool.h>

#include <keyway/export.h>

/// Prints what failed.
void test_failure_print(const char *format, va_list arguments) KW_PRINTF(1, 0);

/// Ends the program with a sentence unless `is_true`: for what a test cannot go on without.
void test_must(bool is_true, const char *format, ...) KW_PRINTF(2, 3);

#endif // SERVE_TEST_FAILURE_H
