// The tensor of the example in docs/generator.md.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef TESTS_GEN_MY_TENSOR_H
#define TESTS_GEN_MY_TENSOR_H

// snippet: tensor
#include <keyway/keyset.h>

typedef struct my_tensor {
    kw_keyset keys;
    double value;
} my_tensor;

static inline kw_keyset my_keys(const my_tensor *tensor)
{
    return tensor->keys;
}
// end of snippet

#endif // TESTS_GEN_MY_TENSOR_H
