// The tensors that the tests of the generator name in its options.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef TESTS_GEN_TENSOR_H
#define TESTS_GEN_TENSOR_H

#include "support/ops.h"

static inline kw_keyset gen_keys(const kwt_tensor *tensor)
{
    return tensor->keys;
}

#endif // TESTS_GEN_TENSOR_H
