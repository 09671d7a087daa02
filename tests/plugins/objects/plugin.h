// What the plugins of the tests share: the form of their operators, (Tensor x, int n) -> int, and
// the functions they got from the host.
//
// Layer:   test
// Threads: see each plugin.
// SPDX-License-Identifier: MIT

#ifndef TESTS_PLUGINS_OBJECTS_PLUGIN_H
#define TESTS_PLUGINS_OBJECTS_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/plugin_api.h>

// A version answers n + VALUE.
#ifndef VALUE
#define VALUE 1
#endif
#ifndef VERSION
#define VERSION "1"
#endif

#define SIGNATURE "ti>i"

typedef kw_status (*plugin_function)(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                     int64_t *out_0);

// Stages one operator `name`, with a kernel for CPU unless it is NULL.
static inline kw_status plugin_stage(const kw_plugin_api *api, kw_library *library,
                                     kw_transaction *tx, const char *schema, const char *name,
                                     plugin_function function, kw_error *err)
{
    kw_status status = KW_OK;
    if (schema != NULL) {
        const kw_definition definition = KW_DEFINE(schema);
        status = api->transaction_define(tx, library, &definition, NULL, err);
    }
    if (status == KW_OK && function != NULL) {
        const kw_kernel_descriptor kernel = KW_UNBOXED(SIGNATURE, function);
        status = api->transaction_impl(tx, library, name, KW_KEY_CPU, &kernel, NULL, err);
    }
    return status;
}

#define PLUGIN_SCHEMA "p::f(Tensor x, int n) -> int"

#endif // TESTS_PLUGINS_OBJECTS_PLUGIN_H
