// A plugin that stands alone: one kernel for an operator of the host's. It links nothing of ours.
//
// Layer:   example
// Threads: the kernel runs in any; start and stop in the thread that loads and unloads.
// SPDX-License-Identifier: MIT

// snippet: plugin
#include <string.h>

#include <keyway/plugin_api.h>

#ifndef FACTOR
#define FACTOR 2
#endif

static const kw_plugin_api *host;

// For `scale(float x) -> float`; the code of this C signature is "d>d".
static kw_status scale(const kw_kernel *self, kw_keyset keys, double x, double *out_0)
{
    (void)self;
    (void)keys;
    if (x < 0) {
        return host->fail(KW_KERNEL_FAILED, "%g is negative", x);
    }
    *out_0 = FACTOR * x;
    return KW_OK;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    kw_kernel_descriptor kernel = KW_UNBOXED("d>d", scale);
    host = api;
    return api->transaction_impl(tx, library, "scale", KW_KEY_CompositeExplicitAutograd, &kernel,
                                 NULL, err);
}

// Runs when `keyway plugin try` asks for it, where the plugin is all there is.
static kw_status self_test(const kw_plugin_api *api, kw_dispatcher *dispatcher, const char *op,
                           kw_error *err)
{
    double out = 0;
    (void)api;
    (void)dispatcher;
    (void)err;
    if (strcmp(op, "my::scale") != 0) {
        return KW_NOT_SUPPORTED;
    }
    return scale(NULL, kw_keyset_empty(), 21, &out) == KW_OK && out == FACTOR * 21
               ? KW_OK
               : KW_KERNEL_FAILED;
}

KW_PLUGIN = {
    KW_PLUGIN_ALONE, .name = "scale", .version = "1.0",
    .start = start,  .ns = "my",      .self_test = self_test,
};
// end of snippet
