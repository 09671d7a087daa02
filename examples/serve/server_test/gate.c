// A plugin of the tests whose relu, or whose stop, waits until a file is there: so that a call can
// be held for as long as a test wants.
//
// Layer:   example (uses the generated nn.h)
// Threads: any
// SPDX-License-Identifier: MIT

#include <fashion/math_plain.h>
#include <nn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <keyway/inline/call.h>
#include <keyway/plugin_api.h>
#include <keyway/tensor.h>

#include "plugins/support/descriptor.h"
#include "tensors.h"

enum {
    WAIT_MS_MAX = 60000 // then the call fails
};

// Waits for the file that a variable names, if there is such a variable.
static bool wait_at(const char *variable)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
    const char *gate = getenv(variable);
    for (unsigned waited = 0; gate != NULL && access(gate, F_OK) != 0; waited++) {
        if (waited == WAIT_MS_MAX) {
            return false;
        }
        (void)usleep(1000);
    }
    return true;
}

static kw_status relu(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    if (!wait_at("SERVE_TEST_GATE")) {
        return kw_fail(KW_KERNEL_FAILED, "nobody opened the gate");
    }
    kw_error err = KW_ERROR_INIT;
    float *values = NULL;
    const kw_status status =
        serve_tensor_create(kw_tensor_dim(x), kw_tensor_sizes(x), out_0, &values, &err);
    if (status != KW_OK) {
        return kw_fail(status, "%s", err.text);
    }
    fashion_plain_relu((size_t)kw_tensor_numel(x), serve_tensor_values(x), values);
    return KW_OK;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api;
    const kw_status status = nn_relu_impl(tx, library, KW_KEY_CPU, relu);
    if (status != KW_OK) {
        *err = *kw_transaction_error(tx);
    }
    return status;
}

static kw_status stop(kw_error *err)
{
    (void)err;
    (void)wait_at("SERVE_TEST_STOP_GATE");
    return KW_OK;
}

KW_PLUGIN = SERVE_PLUGIN("nn", "gate", "1.0", start, stop);
