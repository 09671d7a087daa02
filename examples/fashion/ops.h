// Operators of the demo: what the generated header does not know, their handles as a table.
//
// Layer:     example (uses the generated nn.h)
// Threads:   any; a fashion_ops does not change once it is found
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_OPS_H
#define FASHION_OPS_H

#include <keyway/dispatcher.h>

#include "nn.h"

typedef enum fashion_op {
    FASHION_OP_CONV2D = 0,
    FASHION_OP_RELU = 1,
    FASHION_OP_MAX_POOL2D = 2,
    FASHION_OP_LINEAR = 3,
    FASHION_OP_SOFTMAX = 4,
    FASHION_OP_COUNT = 5,
} fashion_op;

// A resolved handle for each operator; valid as long as the dispatcher.
typedef struct fashion_ops {
    const kw_operator *handles[FASHION_OP_COUNT];
} fashion_ops;

/// Returns "nn::conv2d" and so on; valid for ever.
const char *fashion_op_name(fashion_op op);

/// Defines the five operators in a library, in a transaction of its own.
kw_status fashion_ops_define(kw_dispatcher *dispatcher, kw_library *library, kw_error *err);

/// Finds the five handles and proves their C signatures.
kw_status fashion_ops_find(kw_dispatcher *dispatcher, fashion_ops *out_ops, kw_error *err);

#endif // FASHION_OPS_H
