// The plugin onednn: starts and stops, and what it registers.
//
// Layer:   example (uses kernels, operation, support/pin)
// Threads: the one that loads or unloads
// SPDX-License-Identifier: MIT

#include <dnnl.h>

#include <keyway/inline/call.h>
#include <keyway/plugin_api.h>
#include <keyway/tensor.h>

#include "kernels.h"
#include "operation.h"
#include "plugins/support/descriptor.h"
#include "plugins/support/pin.h"

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api;
    kw_status status = serve_library_pin(dnnl_version(), err);
    if (status == KW_OK) {
        status = onednn_operations_start(err);
    }
    if (status != KW_OK) {
        return status;
    }
    status = onednn_kernels_stage(tx, library);
    if (status != KW_OK) {
        *err = *kw_transaction_error(tx);
        onednn_operations_stop();
    }
    return status;
}

static kw_status stop(kw_error *err)
{
    (void)err;
    onednn_operations_stop();
    return KW_OK;
}

KW_PLUGIN = SERVE_PLUGIN("nn", "onednn", "1.0", start, stop);
