// A plugin whose kernel waits for the host inside a call and then needs its code and data: it
// crashes when it is unmapped early.
//
// Layer:   test
// Threads: any, but for start.
// SPDX-License-Identifier: MIT

#include <semaphore.h>
#include <stdatomic.h>

#include "plugin.h"

static const kw_plugin_api *host;

// What the host gives through the thread's context.
typedef struct gate {
    sem_t entered;
    sem_t leave;
} gate;

static atomic_llong table[4096];

static kw_status add(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    gate *door = host->call_context();
    if (door != NULL) {
        (void)sem_post(&door->entered);
        (void)sem_wait(&door->leave);
    }
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        (void)atomic_fetch_add_explicit(&table[i], VALUE, memory_order_relaxed);
    }
    *out_0 = n + VALUE;
    return KW_OK;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    host = api;
    return plugin_stage(api, library, tx, PLUGIN_SCHEMA, "p::f", add, err);
}

KW_PLUGIN = {KW_PLUGIN_ALONE, .name = "slow", .version = VERSION, .start = start};
