// Gradients against finite differences.
//
// Layer:     example test
// Threads:   as grad.h
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef GRAD_TEST_DIFFERENCES_H
#define GRAD_TEST_DIFFERENCES_H

#include "functions.h"

/// Compares the gradients of sum(result * weights), with weights from `seed`, with central
/// differences, for every element of every leaf.
void test_differences(test_function function, void *context, kw_tensor *const *leaves,
                      uint32_t leaf_count, uint64_t seed);

#endif // GRAD_TEST_DIFFERENCES_H
