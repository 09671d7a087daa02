// A plugin with a thread of its own: with JOINS its stop says that it is busy while the thread
// works, and then waits for it; without, the thread goes on after stop.
//
// Layer:   test
// Threads: any, but for start and stop.
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "plugin.h"

static const kw_plugin_api *host;
static pthread_t worker;
static atomic_int stops;
static atomic_int turns;

static void *work(void *unused)
{
    (void)unused;
    // Long enough to be met by an unmapping.
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < 100 && atomic_load(&stops) < 2; i++) {
        (void)nanosleep(&pause, NULL);
        (void)atomic_fetch_add(&turns, 1);
    }
    return NULL;
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
    host = api;
    if (pthread_create(&worker, NULL, work, NULL) != 0) {
        return KW_NO_MEMORY;
    }
    return plugin_stage(api, library, tx, PLUGIN_SCHEMA, "p::f", add, err);
}

static kw_status stop(kw_error *err)
{
#ifdef JOINS
    if (atomic_fetch_add(&stops, 1) == 0) {
        (void)err;
        return KW_BUSY;
    }
    (void)pthread_join(worker, NULL);
#else
    (void)err;
    (void)pthread_detach(worker);
#endif
    return KW_OK;
}

KW_PLUGIN = {KW_PLUGIN_ALONE, .name = "own_thread", .version = VERSION, .start = start,
             .stop = stop};
