// A plugin of the tests whose softmax leaves a number where probabilities would be: so an
// answer proves which code ran, whatever it says of itself.
//
// Layer:   example (uses the generated nn.h)
// Threads: any
// SPDX-License-Identifier: MIT
//
// MARK_NAME, MARK_VERSION and MARK_NUMBER say which one it is. With MARK_CANARY its kernel is one
// of the backend Canary, and everything else of that backend goes on to the CPU.

#include <nn.h>

#include <keyway/inline/call.h>
#include <keyway/plugin_api.h>
#include <keyway/tensor.h>

#include "plugins/support/descriptor.h"
#include "tensors.h"

static kw_status softmax(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t dim,
                         kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    (void)dim;
    kw_error err = KW_ERROR_INIT;
    float *values = NULL;
    const kw_status status =
        serve_tensor_create(kw_tensor_dim(x), kw_tensor_sizes(x), out_0, &values, &err);
    if (status != KW_OK) {
        return kw_fail(status, "%s", err.text);
    }
    for (int64_t i = 0; i < kw_tensor_numel(x); i++) {
        values[i] = (float)MARK_NUMBER;
    }
    return KW_OK;
}

#ifdef MARK_CANARY
#define MARK_NS NULL // a fallback is for operators of all namespaces

static kw_status go_on(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                       kw_frame *frame)
{
    (void)self;
    return kw_redispatch_boxed(op, kw_keyset_remove_backend(keys, KW_BACKEND_PrivateUse2), frame);
}
#else
#define MARK_NS "nn"
#endif

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api;
#ifdef MARK_CANARY
    const kw_kernel_descriptor fallback = KW_BOXED(go_on);
    kw_status status =
        kw_transaction_fallback(tx, library, KW_KEY_PrivateUse2, &fallback, NULL, err);
    if (status != KW_OK) {
        return status;
    }
    status = nn_softmax_impl(tx, library, KW_KEY_PrivateUse2, softmax);
#else
    kw_status status = nn_softmax_impl(tx, library, KW_KEY_CPU, softmax);
#endif
    if (status != KW_OK) {
        *err = *kw_transaction_error(tx);
    }
    return status;
}

KW_PLUGIN = SERVE_PLUGIN(MARK_NS, MARK_NAME, MARK_VERSION, start, NULL);
