// Operators of the demo: their schemas, defined and found again.
//
// Layer:     example (uses Keyway's public headers)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "ops.h"

#include <keyway/transaction.h>

typedef struct op_row {
    const char *name;
    const char *schema;
    const char *signature;
} op_row;

static const op_row rows[FASHION_OP_COUNT] = {
    [FASHION_OP_CONV2D] = {"nn::conv2d",
                           "nn::conv2d(Tensor x, Tensor weight, Tensor? bias, int padding) -> "
                           "Tensor",
                           "ttti>t"},
    [FASHION_OP_RELU] = {"nn::relu", "nn::relu(Tensor x) -> Tensor", "t>t"},
    [FASHION_OP_MAX_POOL2D] = {"nn::max_pool2d", "nn::max_pool2d(Tensor x, int size) -> Tensor",
                               "ti>t"},
    [FASHION_OP_LINEAR] = {"nn::linear",
                           "nn::linear(Tensor x, Tensor weight, Tensor? bias) -> Tensor", "ttt>t"},
    [FASHION_OP_SOFTMAX] = {"nn::softmax", "nn::softmax(Tensor x, int dim) -> Tensor", "ti>t"},
};

const char *fashion_op_name(fashion_op op)
{
    return rows[op].name;
}

kw_status fashion_ops_define(kw_dispatcher *dispatcher, kw_library *library, kw_error *err)
{
    kw_transaction *tx = NULL;
    kw_status status = kw_transaction_begin(dispatcher, &tx, err);
    for (int op = 0; op < FASHION_OP_COUNT && status == KW_OK; op++) {
        kw_definition definition = KW_DEFINE(rows[op].schema);
        status = kw_transaction_define(tx, library, &definition, NULL, err);
    }
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
        kw_status status = kw_operator_find_typed(dispatcher, rows[op].name, rows[op].signature,
                                                  &found.handles[op], err);
        if (status != KW_OK) {
            return status;
        }
    }
    *out_ops = found;
    return KW_OK;
}
