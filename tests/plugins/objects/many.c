// A plugin of ordinary size: 20 operators with 60 kernels, and a kernel for an operator of the
// host's.
//
// Layer:   test
// Threads: any, but for start and stop.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include "plugin.h"

#define OP_COUNT 20

static const kw_plugin_api *host;
static int64_t value = VALUE;

// The user data of the kernels; their destructors make them wrong.
static int64_t values[3 * OP_COUNT + 1];
static int value_count;

static kw_status add(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    const int64_t *mine = self->user_data;
    (void)keys;
    (void)x;
    *out_0 = n + *mine;
    return *mine == value ? KW_OK : host->fail(KW_KERNEL_FAILED, "dead data in " VERSION);
}

static void destroy(void *user_data)
{
    *(int64_t *)user_data = -1;
}

static kw_status stage_kernel(kw_library *library, kw_transaction *tx, const char *name, kw_key key,
                              kw_error *err)
{
    kw_kernel_descriptor kernel = KW_UNBOXED(SIGNATURE, add);
    values[value_count] = value;
    kernel.user_data = &values[value_count++];
    kernel.destroy = destroy;
    return host->transaction_impl(tx, library, name, key, &kernel, NULL, err);
}

static kw_status stage_op(kw_library *library, kw_transaction *tx, int number, kw_error *err)
{
    char schema[64];
    (void)snprintf(schema, sizeof schema, "m::op%d(Tensor x, int n) -> int", number);
    const kw_definition definition = KW_DEFINE(schema);
    char name[16];
    (void)snprintf(name, sizeof name, "m::op%d", number);
    kw_status status = host->transaction_define(tx, library, &definition, NULL, err);
    for (kw_key key = KW_KEY_CPU; key < KW_KEY_CPU + 3 && status == KW_OK; key++) {
        status = stage_kernel(library, tx, name, key, err);
    }
    return status;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    host = api;
    kw_status status = stage_kernel(library, tx, "p::f", KW_KEY_CPU, err);
    for (int i = 0; i < OP_COUNT && status == KW_OK; i++) {
        status = stage_op(library, tx, i, err);
    }
    return status;
}

KW_PLUGIN = {KW_PLUGIN_ALONE, .name = "many", .version = VERSION, .start = start};
