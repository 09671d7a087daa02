// A plugin of the tests that fails half way: when it has staged a kernel that would be seen.
//
// Layer:   example (uses the generated nn.h)
// Threads: any
// SPDX-License-Identifier: MIT
//
// With TORN_COMMIT its start succeeds, and the commit fails: the second kernel has the code of
// another C signature than its operator's. Without it the start itself fails.

#include <nn.h>
#include <stdio.h>

#include <keyway/inline/call.h>
#include <keyway/plugin_api.h>
#include <keyway/tensor.h>

#include "plugins/support/descriptor.h"

static kw_status softmax(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t dim,
                         kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    (void)dim;
    (void)out_0;
    return kw_fail(KW_KERNEL_FAILED, "a kernel of a plugin that was refused runs");
}

#ifdef TORN_COMMIT
static kw_status other(const kw_kernel *self, kw_keyset keys, double x, double *out_0)
{
    (void)self;
    (void)keys;
    *out_0 = x;
    return KW_OK;
}
#endif

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api;
    if (nn_softmax_impl(tx, library, KW_KEY_CPU, softmax) != KW_OK) {
        *err = *kw_transaction_error(tx);
        return err->status;
    }
#ifdef TORN_COMMIT
    const kw_kernel_descriptor kernel = KW_UNBOXED("d>d", other);
    return kw_transaction_impl(tx, library, "relu", KW_KEY_CPU, &kernel, NULL, err);
#else
    err->status = KW_NOT_FOUND;
    (void)snprintf(err->text, sizeof err->text, "this machine has not what torn needs");
    return KW_NOT_FOUND;
#endif
}

// Has the name of mark, to be loaded as that one, or in its place.
KW_PLUGIN = SERVE_PLUGIN("nn", "mark", "1.0", start, NULL);
