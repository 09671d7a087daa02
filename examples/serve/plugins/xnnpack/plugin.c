// The plugin xnnpack: starts and stops, and what it registers.
//
// Layer:   example (uses kernels, operation, support/pin)
// Threads: the one that loads or unloads
// SPDX-License-Identifier: MIT
//
// It has no namespace of its own, since the fallback of a key serves all.

#include <xnnpack.h>

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
    kw_status status = serve_library_pin((const void *)(uintptr_t)xnn_initialize, err);
    if (status == KW_OK) {
        status = xnnpack_operations_start(err);
    }
    if (status != KW_OK) {
        return status;
    }
    status = xnnpack_kernels_stage(tx, library);
    if (status != KW_OK) {
        *err = *kw_transaction_error(tx);
        xnnpack_operations_stop();
    }
    return status;
}

static kw_status stop(kw_error *err)
{
    (void)err;
    xnnpack_operations_stop();
    return KW_OK;
}

KW_PLUGIN = SERVE_PLUGIN(NULL, "xnnpack", "1.0", start, stop);
