// A plugin for the tests of the Python package: an operator of integers, in versions.
//
// Layer:   test
// Threads: the kernel runs in any.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/plugin_api.h>

static const kw_plugin_api *host;

static kw_status number(const kw_kernel *self, kw_keyset keys, int64_t x, int64_t *out_0)
{
    (void)self;
    (void)keys;
    if (x < 0) {
        return host->fail(KW_KERNEL_FAILED, "%d is negative", (int)x);
    }
    *out_0 = x * 1000000 + VALUE;
    return KW_OK;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    kw_definition definition = KW_DEFINE("number(int x) -> int");
    kw_kernel_descriptor kernel = KW_UNBOXED("i>i", number);
    host = api;
    kw_status status = api->transaction_define(tx, library, &definition, NULL, err);
    return status == KW_OK
               ? api->transaction_impl(tx, library, "number", KW_KEY_CompositeExplicitAutograd,
                                       &kernel, NULL, err)
               : status;
}

static kw_status self_test(const kw_plugin_api *api, kw_dispatcher *dispatcher, const char *op,
                           kw_error *err)
{
    (void)api;
    (void)dispatcher;
    (void)err;
    int64_t out = 0;
    if (strcmp(op, "py_plugin::number") != 0) {
        return KW_NOT_SUPPORTED;
    }
    return number(NULL, kw_keyset_empty(), 1, &out) == KW_OK ? KW_OK : KW_KERNEL_FAILED;
}

KW_PLUGIN = {
    KW_PLUGIN_ALONE, .name = "number",  .version = VERSION,
    .start = start,  .ns = "py_plugin", .self_test = self_test,
};
