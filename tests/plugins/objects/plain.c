// The smallest plugin: one operator, one kernel. With LEAKS each start loses a hundred bytes.
//
// Layer:   test
// Threads: any, but for start.
// SPDX-License-Identifier: MIT

#include <stdlib.h>

#include "plugin.h"

#ifdef LEAKS
static void *volatile lost;
#endif

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
#ifdef LEAKS
    lost = malloc(100);
#endif
    return plugin_stage(api, library, tx, PLUGIN_SCHEMA, "p::f", add, err);
}

KW_PLUGIN = {KW_PLUGIN_ALONE, .name = "plain", .version = VERSION, .start = start};
