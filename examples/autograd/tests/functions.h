// Functions of leaves that the formulas are tested with: by differences, and against PyTorch.
//
// Layer:     example test
// Threads:   as grad.h
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef GRAD_TEST_FUNCTIONS_H
#define GRAD_TEST_FUNCTIONS_H

#include "test.h"

#define FUNCTION_INPUTS_MAX 3

/// A function of leaves. The result, of any shape, is kept.
typedef kw_tensor *(*test_function)(kw_tensor *const *x, void *context);

// A function with one or two leaves, whose elements lie between `low` and `high`.
typedef struct test_subject {
    const char *name;
    test_function function;
    double low;
    double high;
    kw_int_list sizes[2];
    uint32_t leaf_count;
} test_subject;

extern const test_subject test_subjects[]; // ends with the name NULL

#endif // GRAD_TEST_FUNCTIONS_H
