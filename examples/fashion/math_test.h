// Self-check, shared part: counts the checks and names the groups of them.
//
// Layer:     example (test)
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_MATH_TEST_H
#define FASHION_MATH_TEST_H

#include <stdbool.h>

/// Counts a check as passed or failed; on failure prints the place and the text.
void fashion_test_count(bool passed, const char *file, int line, const char *text);

#define FASHION_CHECK(condition) fashion_test_count((condition), __FILE__, __LINE__, #condition)
#define FASHION_FAIL(text) fashion_test_count(false, __FILE__, __LINE__, (text))

/// Small cases with results computed by hand: both math sets and the histogram.
void fashion_test_math(void);
void fashion_test_histogram(void);

/// Loaders: what is refused and what the sentence says. Writes files in a new temporary folder.
void fashion_test_loaders(const char *data_dir);

/// The network on every image of the sample, or of the package if `package_dir` is not NULL,
/// with both math sets against the reference. Prints a line of figures for each.
void fashion_test_network(const char *data_dir, const char *package_dir);

#endif // FASHION_MATH_TEST_H
