// A plugin that cannot be registered: by FAULT its start fails half-way, or its commit.
//
// Layer:   test
// Threads: the one that loads it.
// SPDX-License-Identifier: MIT

#include "plugin.h"

#define FAILS 1
#define FAILS_SILENTLY 2
#define DEFINES_TWICE 3

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
    kw_status status = plugin_stage(api, library, tx, PLUGIN_SCHEMA, "p::f", add, err);
    if (status == KW_OK && FAULT == DEFINES_TWICE) {
        status = plugin_stage(api, library, tx, PLUGIN_SCHEMA, NULL, NULL, err);
    }
    if (FAULT == FAILS) {
        const kw_definition malformed = KW_DEFINE("p::g(Tensor x ->");
        status = api->transaction_define(tx, library, &malformed, NULL, err);
    }
    return FAULT == FAILS_SILENTLY ? KW_STATUS_USER + 4 : status;
}

// Only after a start that succeeded.
static kw_status stop(kw_error *err)
{
    (void)err;
    return FAULT == DEFINES_TWICE ? KW_OK : KW_INTERNAL;
}

KW_PLUGIN = {KW_PLUGIN_ALONE, .name = "broken_start", .version = VERSION, .start = start,
             .stop = stop};
