// Staging: a kernel for each of the five operators, in one step.
//
// Layer:   example (uses the generated nn.h)
// Threads: the transaction's owner
// SPDX-License-Identifier: MIT

#ifndef SERVE_STAGING_H
#define SERVE_STAGING_H

#include <nn.h>

/// Stages the functions that have the operators' names for one key. Returns whether it could;
/// kw_transaction_error() says why it could not.
///
/// A macro, so that the registrations have the file and the line of who stages.
#define SERVE_KERNELS_STAGE(tx, library, key)                                                      \
    (nn_conv2d_impl(tx, library, key, conv2d) == KW_OK &&                                          \
     nn_relu_impl(tx, library, key, relu) == KW_OK &&                                              \
     nn_max_pool2d_impl(tx, library, key, max_pool2d) == KW_OK &&                                  \
     nn_linear_impl(tx, library, key, linear) == KW_OK &&                                          \
     nn_softmax_impl(tx, library, key, softmax) == KW_OK)

#endif // SERVE_STAGING_H
