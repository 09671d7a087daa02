// A family of plugins for the stress driver: MEMBER in the file version VERSION, or one that fails
// to load, by EVIL. A plugin knows when it is called, destroyed or stopped too early.
//
// Layer:   stress
// Threads: any, but for start and stop.
// SPDX-License-Identifier: MIT

#include "family.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <keyway/plugin_api.h>

#ifndef NEXT_MEMBER
#define NEXT_MEMBER MEMBER
#endif
#ifndef EVIL
#define EVIL 0
#endif
#define UNREADY 1 // the start fails when half is staged
#define TWICE 2   // the commit fails: the host has defined the operator
#define FOREIGN 3 // another major version of the interface

#define STRING_OF(text) #text
#define STRING(text) STRING_OF(text)
#define F "family::" MEMBER "_f"
#define G "family::" MEMBER "_g"

#define ALIVE UINT64_C(0x600d600d600d600d)
#define DEAD UINT64_C(0xdeaddeaddeaddead)
#define DESTROY_NS 20000

// The user data of a kernel.
typedef struct grain {
    _Atomic uint64_t canary;
    uint64_t loading;
} grain;

typedef kw_status (*family_function)(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                     int64_t *out_0);

static const kw_plugin_api *host;
static const kw_operator *rest_op;
static const kw_operator *next_op;
static uint64_t loading; // its number
static atomic_int grain_count;
static atomic_int inside_count;     // kernels that run
static atomic_int destroying_count; // destructors that run

static kw_status call(const kw_operator *op, void *x, int64_t n, int64_t *out_0)
{
    kw_typed_call made;
    kw_status status = host->typed_call_begin(op, host->keyset_from_key(KW_KEY_CPU), &made);
    if (status != KW_OK) {
        return status;
    }
    status = ((family_function)made.function)(made.kernel, made.keys, x, n, out_0);
    return host->typed_call_end(&made, status);
}

// Kernels ----------------------------------------------------------------------------------------

static bool is_alive(const grain *mine)
{
    return atomic_load_explicit(&mine->canary, memory_order_relaxed) == ALIVE &&
           mine->loading == loading;
}

static kw_status nest(void *x, int64_t n)
{
    int64_t unused = 0;
    kw_status status = (n & FAMILY_RESTS) != 0 ? call(rest_op, x, n, &unused) : KW_OK;
    if (status == KW_OK && (n & FAMILY_NESTS) != 0) {
        status = call(next_op, x, n & FAMILY_RESTS, &unused);
        status = status == KW_NO_KERNEL || status == KW_NO_KERNEL_FOR_KEY ? KW_OK : status;
    }
    return status == KW_OK ? KW_OK
                           : host->fail(FAMILY_NESTED, "inside " MEMBER ": %s", host->call_error());
}

static kw_status run(const kw_kernel *self, void *x, int64_t n, int64_t *out_0)
{
    const grain *mine = self->user_data;
    (void)atomic_fetch_add_explicit(&inside_count, 1, memory_order_relaxed);
    bool was_alive = is_alive(mine);
    kw_status status = nest(x, n);
    if (!was_alive || !is_alive(mine)) {
        status = host->fail(FAMILY_DEAD, "a kernel of " MEMBER " runs on data that is destroyed");
    }
    *out_0 = (int64_t)loading;
    (void)atomic_fetch_sub_explicit(&inside_count, 1, memory_order_relaxed);
    return status;
}

static kw_status answer(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    (void)keys;
    return run(self, x, n, out_0);
}

static kw_status answer_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                              kw_frame *frame)
{
    (void)op;
    (void)keys;
    int64_t made = 0;
    kw_status status = run(self, frame->args[0].as.as_tensor, frame->args[1].as.as_int, &made);
    frame->returns[0] = kw_value_int(made);
    return status;
}

// Above the others: what it redispatches to is of the same loading.
static kw_status layer(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    (void)atomic_fetch_add_explicit(&inside_count, 1, memory_order_relaxed);
    ((family_tensor *)x)->layer = loading;
    kw_keyset below = host->keyset_intersection(keys, host->keyset_full_after(KW_KEY_AutogradCPU));
    kw_typed_call made;
    kw_status status = host->typed_redispatch_begin(self->op, below, &made);
    if (status == KW_OK) {
        status = ((family_function)made.function)(made.kernel, made.keys, x, n, out_0);
        status = host->typed_call_end(&made, status);
    }
    if (status == KW_OK && (uint64_t)*out_0 != loading) {
        status = host->fail(FAMILY_TWO, "one call of " MEMBER " meets two loadings");
    }
    (void)atomic_fetch_sub_explicit(&inside_count, 1, memory_order_relaxed);
    return status;
}

// Takes its time, so that who does not wait for it meets it.
static void destroy(void *user_data)
{
    const struct timespec pause = {.tv_nsec = DESTROY_NS};
    grain *dying = user_data;
    (void)atomic_fetch_add_explicit(&destroying_count, 1, memory_order_relaxed);
    atomic_store_explicit(&dying->canary, DEAD, memory_order_relaxed);
    (void)nanosleep(&pause, NULL);
    free(dying);
    (void)atomic_fetch_sub_explicit(&grain_count, 1, memory_order_relaxed);
    (void)atomic_fetch_sub_explicit(&destroying_count, 1, memory_order_relaxed);
}

// Start and stop ---------------------------------------------------------------------------------

static kw_status stage(kw_library *library, kw_transaction *tx, const char *name, kw_key key,
                       kw_kernel_descriptor kernel, kw_error *err)
{
    grain *made = malloc(sizeof *made);
    if (made == NULL) {
        return KW_NO_MEMORY;
    }
    atomic_init(&made->canary, ALIVE);
    made->loading = loading;
    kernel.user_data = made;
    kernel.destroy = destroy;
    kw_status status = host->transaction_impl(tx, library, name, key, &kernel, NULL, err);
    if (status != KW_OK) {
        free(made);
        return status;
    }
    (void)atomic_fetch_add_explicit(&grain_count, 1, memory_order_relaxed);
    return KW_OK;
}

static kw_status stage_op(kw_library *library, kw_transaction *tx, const char *name, bool is_boxed,
                          kw_error *err)
{
    const kw_kernel_descriptor kernel =
        is_boxed ? KW_BOXED(answer_boxed) : KW_UNBOXED(FAMILY_SIGNATURE, answer);
    kw_status status = stage(library, tx, name, KW_KEY_CPU, kernel, err);
    return status == KW_OK ? stage(library, tx, name, KW_KEY_AutogradCPU,
                                   KW_UNBOXED(FAMILY_SIGNATURE, layer), err)
                           : status;
}

// What another start or commit that failed has staged was never registered, and is still ours.
static kw_status stage_evil(kw_library *library, kw_transaction *tx, kw_error *err)
{
    const kw_kernel_descriptor kernel = KW_UNBOXED(FAMILY_SIGNATURE, answer);
    const kw_definition second = KW_DEFINE(F "(Tensor x, int n) -> int");
    kw_status status = host->transaction_impl(tx, library, F, KW_KEY_CPU, &kernel, NULL, err);
    if (status == KW_OK && EVIL == TWICE) {
        status = host->transaction_define(tx, library, &second, NULL, err);
    }
    return status == KW_OK && EVIL == UNREADY ? FAMILY_UNREADY : status;
}

static kw_status find_ops(kw_library *library, kw_error *err)
{
    kw_dispatcher *dispatcher = host->library_dispatcher(library);
    const kw_operator *loading_op = NULL;
    kw_status status =
        host->operator_find_typed(dispatcher, "host::loading", FAMILY_SIGNATURE, &loading_op, err);
    status = status == KW_OK ? host->operator_find_typed(dispatcher, "host::rest", FAMILY_SIGNATURE,
                                                         &rest_op, err)
                             : status;
    status = status == KW_OK ? host->operator_find_typed(dispatcher, "family::" NEXT_MEMBER "_f",
                                                         FAMILY_SIGNATURE, &next_op, err)
                             : status;
    int64_t number = 0;
    family_tensor x = {.keys = host->keyset_from_key(KW_KEY_CPU)};
    status = status == KW_OK ? call(loading_op, &x, 0, &number) : status;
    loading = (uint64_t)number;
    return status;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    host = api;
    kw_status status = find_ops(library, err);
    if (status != KW_OK || EVIL != 0) {
        return status == KW_OK ? stage_evil(library, tx, err) : status;
    }
    status = stage_op(library, tx, F, false, err);
    return status == KW_OK ? stage_op(library, tx, G, VERSION % 2 == 0, err) : status;
}

static kw_status stop(kw_error *err)
{
    int inside = atomic_load(&inside_count);
    int destroying = atomic_load(&destroying_count);
    int grains = atomic_load(&grain_count);
    if (inside == 0 && destroying == 0 && grains == 0) {
        return KW_OK;
    }
    if (err != NULL) {
        (void)snprintf(err->text, sizeof err->text,
                       "it is stopped with %d kernels and %d destructors running, %d of its data "
                       "alive",
                       inside, destroying, grains);
    }
    return FAMILY_DEAD;
}

#if EVIL == FOREIGN
KW_PLUGIN = {
    .struct_size = sizeof(kw_plugin_descriptor),
    .api_major = KW_PLUGIN_API_MAJOR + 1,
    .name = MEMBER,
    .version = STRING(VERSION),
    .start = start,
    .stop = stop,
};
#else
KW_PLUGIN = {KW_PLUGIN_ALONE, .name = MEMBER, .version = STRING(VERSION), .start = start,
             .stop = stop};
#endif
