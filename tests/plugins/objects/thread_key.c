// A plugin with a thread key whose destructor is its own code; with DELETES it deletes the key when
// it stops, without it a thread that ends later runs the destructor.
//
// Layer:   test
// Threads: any, but for start and stop.
// SPDX-License-Identifier: MIT

#include <pthread.h>

#include "plugin.h"

static pthread_key_t key;
static int64_t ended;

static void end_thread(void *value)
{
    ended += *(int64_t *)value;
}

static kw_status add(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    static int64_t one = 1;
    (void)self;
    (void)keys;
    (void)x;
    (void)pthread_setspecific(key, &one);
    *out_0 = n + VALUE;
    return KW_OK;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)pthread_key_create(&key, end_thread);
    return plugin_stage(api, library, tx, PLUGIN_SCHEMA, "p::f", add, err);
}

static kw_status stop(kw_error *err)
{
    (void)err;
#ifdef DELETES
    (void)pthread_key_delete(key);
#endif
    return KW_OK;
}

KW_PLUGIN = {KW_PLUGIN_ALONE, .name = "thread_key", .version = VERSION, .start = start,
             .stop = stop};
