// A plugin of the second kind: linked with libkeyway, for the inline forms.
//
// Layer:   test
// Threads: any, but for start.
// SPDX-License-Identifier: MIT

#include <keyway/inline/call.h>

#include "plugin.h"

// Below Tracer, with the inline forms.
static kw_status trace(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_full_after(KW_KEY_Tracer));
    const kw_table *table = kw_redispatch_table(self->op);
    if (table == NULL) {
        return kw_fail(KW_KERNEL_FAILED, "the layer is not inside its call");
    }
    const kw_entry *entry = kw_redispatch_select(table, below);
    return ((plugin_function)entry->function)(entry->kernel, below, x, n, out_0);
}

static kw_status add(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    *out_0 = n + VALUE;
    return KW_OK;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    const kw_kernel_descriptor layer = KW_UNBOXED(SIGNATURE, trace);
    kw_status status = plugin_stage(api, library, tx, PLUGIN_SCHEMA, "p::f", add, err);
    return status == KW_OK
               ? kw_transaction_impl(tx, library, "p::f", KW_KEY_Tracer, &layer, NULL, err)
               : status;
}

KW_PLUGIN = {KW_PLUGIN_LINKED, .name = "linked", .version = VERSION, .start = start};
