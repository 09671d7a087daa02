// The plugin: kernels in C for a few of PyTorch's operators, under the key CPU.
//
// Layer:   example
// Threads: start runs in the thread that loads; kernels in any.
// SPDX-License-Identifier: MIT
//
// It defines one operator of its own, which tells how often its kernels ran.

#include <string.h>

#include <keyway/inline/call.h>
#include <keyway/plugin_api.h>

#include "kernels.h"

static route_entry entries[] = {
    {"aten::add.Tensor", route_add, 0, 0}, {"aten::add_.Tensor", route_add_in_place, 0, 0},
    {"aten::mul.Tensor", route_mul, 0, 0}, {"aten::mul_.Tensor", route_mul_in_place, 0, 0},
    {"aten::relu", route_relu, 0, 0},      {"aten::mm", route_mm, 0, 0},
};
#define ENTRY_COUNT (sizeof entries / sizeof entries[0])

// For `torch_route::count(str op) -> (int served, int declined)`.
static kw_status count(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                       kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        if (strcmp(frame->args[0].as.as_string, entries[i].op) == 0) {
            frame->returns[0] = kw_value_int((int64_t)entries[i].served);
            frame->returns[1] = kw_value_int((int64_t)entries[i].declined);
            return KW_OK;
        }
    }
    return kw_fail(KW_NOT_FOUND, "the plugin has no kernel for %s", frame->args[0].as.as_string);
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    kw_definition definition =
        KW_DEFINE("torch_route::count(str op) -> (int served, int declined)");
    kw_kernel_descriptor kernel = KW_BOXED(count);
    kw_status status = api->transaction_define(tx, library, &definition, NULL, err);
    if (status == KW_OK) {
        status = api->transaction_impl(tx, library, "torch_route::count",
                                       KW_KEY_CompositeExplicitAutograd, &kernel, NULL, err);
    }
    for (size_t i = 0; status == KW_OK && i < ENTRY_COUNT; i++) {
        kernel = KW_BOXED(entries[i].function);
        kernel.name = entries[i].op;
        kernel.user_data = &entries[i];
        status = api->transaction_impl(tx, library, entries[i].op, KW_KEY_CPU, &kernel, NULL, err);
    }
    return status;
}

KW_PLUGIN = {
    KW_PLUGIN_LINKED,
    .name = "torch_route",
    .version = "1.0",
    .start = start,
};
