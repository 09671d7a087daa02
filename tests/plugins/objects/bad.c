// A plugin that loads and answers and is wrong all the same, by FORM: what the stress driver's
// scenario "user" must find. FORM 0 is right.
//
// Layer:   test
// Threads: any, but for start and stop.
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <keyway/plugin_api.h>

#define KEEPS_STATE 1 // in the process, over its unloading
#define VARIES 2      // answers differently now and then
#define LEAKS_CALLS 3 // memory, with each call
#define LEAKS_LOADS 4 // memory, with each load
#define STAYS 5       // its stop never returns
#define HOLDS_LEASE 6 // never gives a lease back
#define HAS_THREAD 7  // its thread outlives its stop
#define ABSENT 8      // says now and then that there is no kernel
#define UNCOUNTED 9   // returns a tensor without a reference of its own

#define RARELY 1000 // one call in so many

#if FORM == UNCOUNTED
#define DECLARATION "bad::f(Tensor x) -> Tensor"
#else
#define DECLARATION "bad::f(int n) -> int"
#endif

static const kw_plugin_api *host;
static atomic_uint call_count;
static int64_t start_count;
static void *volatile lost;

static int64_t answer(int64_t n, bool is_rare)
{
    if (FORM == LEAKS_CALLS) {
        lost = malloc(24);
    }
    return 2 * n + (FORM == VARIES && is_rare ? 1 : 0) + (FORM == KEEPS_STATE ? start_count : 0);
}

static kw_status kernel(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                        kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    bool is_rare = atomic_fetch_add(&call_count, 1) % RARELY == RARELY - 1;
    if (FORM == ABSENT && is_rare) {
        return host->fail(KW_NO_KERNEL, "not today");
    }
    if (FORM == UNCOUNTED) {
        frame->returns[0] = frame->args[0];
    } else {
        frame->returns[0] = kw_value_int(answer(frame->args[0].as.as_int, is_rare));
    }
    return KW_OK;
}

// What it keeps
// --------------------------------------------------------------------------------------

static void count_starts(void)
{
    const char *before =
        getenv("KEYWAY_BAD_STARTS"); // NOLINT(concurrency-mt-unsafe): one starts it
    char text[32];
    start_count = before != NULL ? strtoll(before, NULL, 10) + 1 : 0;
    (void)snprintf(text, sizeof text, "%lld", (long long)start_count);
    (void)setenv("KEYWAY_BAD_STARTS", text, 1); // NOLINT(concurrency-mt-unsafe): likewise
}

static pthread_t thread;
static atomic_bool is_joined;

static void *work(void *unused)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    while (!atomic_load(&is_joined)) {
        (void)nanosleep(&pause, NULL);
    }
    return unused;
}

static kw_status keep(kw_library *library, kw_error *err)
{
    kw_lease *lease = NULL;
    switch (FORM) {
    case KEEPS_STATE:
        count_starts();
        return KW_OK;
    case LEAKS_LOADS:
        lost = malloc(100);
        return KW_OK;
    case HOLDS_LEASE:
        return host->lease_begin(library, "forgotten things", &lease, err);
    case HAS_THREAD:
        return pthread_create(&thread, NULL, work, NULL) == 0 ? KW_OK : KW_NO_MEMORY;
    default:
        return KW_OK;
    }
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    const kw_definition definition = KW_DEFINE(DECLARATION);
    const kw_kernel_descriptor boxed = KW_BOXED(kernel);
    host = api;
    kw_status status = api->transaction_define(tx, library, &definition, NULL, err);
    if (status == KW_OK) {
        status = api->transaction_impl(tx, library, "bad::f", KW_KEY_CompositeExplicitAutograd,
                                       &boxed, NULL, err);
    }
    return status == KW_OK ? keep(library, err) : status;
}

static kw_status stop(kw_error *err)
{
    const struct timespec pause = {.tv_sec = 1};
    (void)err;
    while (FORM == STAYS) {
        (void)nanosleep(&pause, NULL);
    }
    if (FORM == HAS_THREAD && atomic_load(&is_joined)) {
        (void)pthread_join(thread, NULL); // it could, and never does
    }
    return KW_OK;
}

KW_PLUGIN = {KW_PLUGIN_ALONE, .name = "bad", .version = "1", .start = start, .stop = stop};
