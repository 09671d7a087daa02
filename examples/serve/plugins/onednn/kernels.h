// Kernels: the five operators under the key CPU, by oneDNN.
//
// Layer:   example (uses the generated nn.h, operation)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SERVE_PLUGINS_ONEDNN_KERNELS_H
#define SERVE_PLUGINS_ONEDNN_KERNELS_H

#include <keyway/transaction.h>

/// Stages the kernels. kw_transaction_error() says why they could not be.
kw_status onednn_kernels_stage(kw_transaction *tx, kw_library *library);

#endif // SERVE_PLUGINS_ONEDNN_KERNELS_H
