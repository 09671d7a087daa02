// The formula of every operator, against finite differences; or written down for PyTorch.
//
// Layer:     example test
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include "differences.h"

#define SEED 20240229

static void make_leaves(const test_subject *subject, uint64_t *seed, kw_tensor **out_leaves)
{
    for (uint32_t i = 0; i < subject->leaf_count; i++) {
        out_leaves[i] = test_leaf(seed, subject->sizes[i], subject->low, subject->high);
    }
}

static void every_formula(void)
{
    for (const test_subject *subject = test_subjects; subject->name != NULL; subject++) {
        uint64_t seed = SEED;
        kw_tensor *leaves[2] = {NULL};
        (void)fprintf(stderr, "%s, seed %d\n", subject->name, SEED);
        make_leaves(subject, &seed, leaves);
        test_differences(subject->function, NULL, leaves, subject->leaf_count, seed);
        test_release_all();
    }
}

const test_case test_formulas[] = {{"every_formula", every_formula}, {NULL, NULL}};

// For PyTorch ------------------------------------------------------------------------------------

static void print_tensor(const char *name, kw_tensor *tensor, const char *end)
{
    kw_tensor *dense = OP(clone, tensor);
    (void)printf("\"%s\": {\"sizes\": [", name);
    for (uint32_t i = 0; i < kw_tensor_dim(dense); i++) {
        (void)printf("%s%lld", i != 0 ? ", " : "", (long long)kw_tensor_sizes(dense)[i]);
    }
    (void)printf("], \"data\": [");
    for (int64_t i = 0; i < kw_tensor_numel(dense); i++) {
        (void)printf("%s%.17g", i != 0 ? ", " : "", test_at(dense, i));
    }
    (void)printf("]}%s", end);
}

static void print_subject(const test_subject *subject)
{
    static const char *const leaf_names[] = {"leaf_0", "leaf_1"};
    static const char *const grad_names[] = {"grad_0", "grad_1"};
    uint64_t seed = SEED;
    kw_tensor *leaves[2] = {NULL};
    const uint32_t leaf_count = subject->leaf_count;
    CHECK(leaf_count <= 2);
    make_leaves(subject, &seed, leaves);
    kw_tensor *result = subject->function(leaves, NULL);
    const kw_int_list sizes = {kw_tensor_sizes(result), kw_tensor_dim(result)};
    kw_tensor *weights = test_random(&seed, KW_DTYPE_FLOAT64, sizes, 0.5, 1.5);
    CHECK_OK(grad_backward(result, weights, false));
    (void)printf("{\"name\": \"%s\", ", subject->name);
    for (uint32_t i = 0; i < leaf_count; i++) {
        print_tensor(leaf_names[i], leaves[i], ", ");
        print_tensor(grad_names[i], grad_of(leaves[i]), ", ");
    }
    print_tensor("weights", weights, ", ");
    print_tensor("result", result, "}");
    test_release_all();
}

void test_print_json(void)
{
    (void)printf("[\n");
    for (const test_subject *subject = test_subjects; subject->name != NULL; subject++) {
        print_subject(subject);
        (void)printf("%s\n", subject[1].name != NULL ? "," : "");
    }
    (void)printf("]\n");
}
