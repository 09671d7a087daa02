// A plugin as it should be: definitions, kernels with user data, a layer, a fallback, a self-test.
//
// Layer:   test
// Threads: any, but for start and stop.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

#define ALIVE 0x600d

// What the self-test wants to see.
#ifndef TESTED_VALUE
#define TESTED_VALUE VALUE
#endif

// What a kernel finds under `self`; poisoned when it is destroyed.
typedef struct state {
    int canary;
    int64_t value;
} state;

static const kw_plugin_api *host;

// In writable memory of the object, so that a version shows which data it has.
static int64_t value = VALUE;

static state *states[4];
static int state_count;

// Below Tracer, as layers do it.
static kw_status trace(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    kw_typed_call call;
    kw_keyset below = host->keyset_intersection(keys, host->keyset_full_after(KW_KEY_Tracer));
    kw_status status = host->typed_redispatch_begin(self->op, below, &call);
    if (status != KW_OK) {
        return status;
    }
    status = ((plugin_function)call.function)(call.kernel, call.keys, x, n, out_0);
    return host->typed_call_end(&call, status);
}

static kw_status add(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    const state *mine = self->user_data;
    (void)keys;
    (void)x;
    if (mine->canary != ALIVE || mine->value != value) {
        return host->fail(KW_KERNEL_FAILED, "the kernel of version %s runs on dead data", VERSION);
    }
    *out_0 = n + mine->value;
    return KW_OK;
}

// Calls p::f, so that one plugin is entered twice.
static kw_status twice(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    const kw_operator *op = NULL;
    kw_status status = host->operator_find_typed(self->user_data, "p::f", SIGNATURE, &op, NULL);
    kw_typed_call call;
    status = status == KW_OK ? host->typed_call_begin(op, keys, &call) : status;
    if (status != KW_OK) {
        return status;
    }
    status = ((plugin_function)call.function)(call.kernel, call.keys, x, n, out_0);
    status = host->typed_call_end(&call, status);
    *out_0 = status == KW_OK ? *out_0 + n : 0;
    return status;
}

static void destroy(void *user_data)
{
    state *dying = user_data;
    dying->canary = 0;
    for (int i = 0; i < state_count; i++) {
        states[i] = states[i] == dying ? NULL : states[i];
    }
    free(dying);
}

static kw_kernel_descriptor describe(void)
{
    kw_kernel_descriptor kernel = KW_UNBOXED(SIGNATURE, add);
    state *made = malloc(sizeof *made);
    if (made != NULL) {
        *made = (state){ALIVE, value};
        states[state_count++] = made;
    }
    kernel.user_data = made;
    kernel.destroy = destroy;
    return kernel;
}

static kw_status stage_kernels(kw_library *library, kw_transaction *tx, kw_error *err)
{
    static const kw_key keys[] = {KW_KEY_CPU, KW_KEY_CUDA, KW_KEY_XLA};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const kw_kernel_descriptor kernel = describe();
        if (kernel.user_data == NULL) {
            return KW_NO_MEMORY;
        }
        kw_status status = host->transaction_impl(tx, library, "p::f", keys[i], &kernel, NULL, err);
        if (status != KW_OK) {
            return status;
        }
    }
    return KW_OK;
}

static kw_status stage_others(kw_library *library, kw_transaction *tx, kw_error *err)
{
    const kw_kernel_descriptor layer = KW_UNBOXED(SIGNATURE, trace);
    kw_kernel_descriptor calling = KW_UNBOXED(SIGNATURE, twice);
    calling.user_data = host->library_dispatcher(library);
    const kw_kernel_descriptor through = KW_FALLTHROUGH();
    kw_status status =
        host->transaction_impl(tx, library, "p::f", KW_KEY_Tracer, &layer, NULL, err);
    if (status == KW_OK) {
        status = host->transaction_impl(tx, library, "p::twice", KW_KEY_CPU, &calling, NULL, err);
    }
    return status == KW_OK
               ? host->transaction_fallback(tx, library, KW_KEY_FuncTorchDynamicLayerBackMode,
                                            &through, NULL, err)
               : status;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    host = api;
    state_count = 0;
    kw_status status = plugin_stage(api, library, tx, PLUGIN_SCHEMA, NULL, NULL, err);
    if (status == KW_OK) {
        status =
            plugin_stage(api, library, tx, "p::twice(Tensor x, int n) -> int", NULL, NULL, err);
    }
    status = status == KW_OK ? stage_kernels(library, tx, err) : status;
    return status == KW_OK ? stage_others(library, tx, err) : status;
}

// What was never registered has not been destroyed.
static kw_status stop(kw_error *err)
{
    (void)err;
    for (int i = 0; i < state_count; i++) {
        free(states[i]);
    }
    state_count = 0;
    return KW_OK;
}

static kw_status check_answer(int64_t answer, kw_error *err)
{
    if (answer == 40 + TESTED_VALUE) {
        return KW_OK;
    }
    if (err != NULL) {
        (void)snprintf(err->text, sizeof err->text, "it answers %lld, not %lld", (long long)answer,
                       (long long)(40 + TESTED_VALUE));
    }
    return KW_KERNEL_FAILED;
}

static kw_status test_f(kw_dispatcher *dispatcher, kw_error *err)
{
    const kw_operator *op = NULL;
    kw_status status = host->operator_find_typed(dispatcher, "p::f", SIGNATURE, &op, err);
    kw_typed_call call;
    int64_t answer = 0;
    status = status == KW_OK ? host->typed_call_begin(op, host->keyset_from_key(KW_KEY_CPU), &call)
                             : status;
    if (status != KW_OK) {
        return status;
    }
    status = ((plugin_function)call.function)(call.kernel, call.keys, NULL, 40, &answer);
    status = host->typed_call_end(&call, status);
    return status == KW_OK ? check_answer(answer, err) : status;
}

static kw_status self_test(const kw_plugin_api *api, kw_dispatcher *dispatcher, const char *op,
                           kw_error *err)
{
    (void)api;
    return strcmp(op, "p::f") == 0 ? test_f(dispatcher, err) : KW_NOT_SUPPORTED;
}

static const char *const needs[] = {"transaction_define", "transaction_impl", "typed_call_begin",
                                    NULL};

KW_PLUGIN = {
    KW_PLUGIN_ALONE,
    .name = "good",
    .version = VERSION,
    .start = start,
    .stop = stop,
    .needs = needs,
    .tensor_type = "tensor of the tests",
    .tensor_type_version = 1,
    .self_test = self_test,
};
