// A linked plugin with a block of static registration, whose record would outlive it on the list.
//
// Layer:   test
// Threads: none: it is never loaded.
// SPDX-License-Identifier: MIT

#include <keyway/startup.h>

#include "plugin.h"

KW_LIBRARY(blocks, m)
{
    kw_block_define(m, KW_DEFINE("f(Tensor x) -> Tensor"));
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api;
    (void)library;
    (void)tx;
    (void)err;
    return KW_OK;
}

KW_PLUGIN = {KW_PLUGIN_ALONE, .name = "blocks", .version = VERSION, .start = start};
