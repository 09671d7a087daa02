// A plugin with memory of its own in each thread.
//
// Layer:   test
// Threads: any, but for start.
// SPDX-License-Identifier: MIT

#include "plugin.h"

static _Thread_local int64_t calls[8];

static kw_status add(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    calls[7]++;
    *out_0 = n + VALUE + 0 * calls[7];
    return KW_OK;
}

// Kernels only: the one that defines the operator must be one of many.
static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    const kw_operator *op = NULL;
    bool is_first =
        api->operator_find_schema(api->library_dispatcher(library), "p::f", &op, NULL) != KW_OK;
    return plugin_stage(api, library, tx, is_first ? PLUGIN_SCHEMA : NULL, "p::f", add, err);
}

KW_PLUGIN = {KW_PLUGIN_ALONE, .name = "thread_memory", .version = VERSION, .start = start};
