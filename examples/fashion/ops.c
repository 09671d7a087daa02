// Operators of the demo: their definitions and their handles.
//
// Layer:     example (uses ops)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "ops.h"

typedef kw_status (*find_function)(kw_dispatcher *dispatcher, const kw_operator **out_op,
                                   kw_error *err);

typedef struct op_row {
    const char *name;
    find_function find;
} op_row;

static const op_row rows[FASHION_OP_COUNT] = {
    [FASHION_OP_CONV2D] = {NN_CONV2D_NAME, nn_conv2d_find},
    [FASHION_OP_RELU] = {NN_RELU_NAME, nn_relu_find},
    [FASHION_OP_MAX_POOL2D] = {NN_MAX_POOL2D_NAME, nn_max_pool2d_find},
    [FASHION_OP_LINEAR] = {NN_LINEAR_NAME, nn_linear_find},
    [FASHION_OP_SOFTMAX] = {NN_SOFTMAX_NAME, nn_softmax_find},
};

const char *fashion_op_name(fashion_op op)
{
    return rows[op].name;
}

kw_status fashion_ops_define(kw_dispatcher *dispatcher, kw_library *library, kw_error *err)
{
    kw_transaction *tx = NULL;
    kw_status status = kw_transaction_begin(dispatcher, &tx, err);
    if (status != KW_OK) {
        return status;
    }
    status = nn_define(tx, library, err);
    if (status != KW_OK) {
        kw_transaction_abort(tx);
        return status;
    }
    return kw_transaction_commit(tx, NULL, NULL, err);
}

kw_status fashion_ops_find(kw_dispatcher *dispatcher, fashion_ops *out_ops, kw_error *err)
{
    fashion_ops found;
    for (int op = 0; op < FASHION_OP_COUNT; op++) {
        kw_status status = rows[op].find(dispatcher, &found.handles[op], err);
        if (status != KW_OK) {
            return status;
        }
    }
    *out_ops = found;
    return KW_OK;
}
