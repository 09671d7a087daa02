// Plugin: one of the demo's kernel libraries as a shared object that comes and goes.
//
// Layer:     example (uses kernels, a copy of them in each plugin)
// Threads:   the kernels run in any; start and stop in the thread that loads and unloads
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// Compiled once for each library, with FASHION_PLUGIN_NAME and FASHION_PLUGIN_STAGE. The data of
// the kernels and their ledger are the plugin's own, so that the lifetime oracle works here too:
// stop refuses if a kernel's data has ended early, or has not ended.

#include <stdio.h>

#include <keyway/plugin_api.h>

#include "kernels.h"

static fashion_ledger ledger;
static fashion_kernel_state *states[FASHION_CHANGE_KERNELS_MAX]; // borrowed once they serve
static size_t state_count;

static void destroy_states(void)
{
    for (size_t i = 0; i < state_count; i++) {
        fashion_kernel_state_destroy(states[i]);
    }
    state_count = 0;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api;
    fashion_ledger_init(&ledger);
    fashion_change change = {.ledger = &ledger, .tx = tx, .err = err, .status = KW_OK};
    for (int op = 0; op < FASHION_OP_COUNT; op++) {
        fashion_slot slot;
        FASHION_PLUGIN_STAGE(&change, library, (fashion_op)op, KW_KEY_CPU, &slot);
    }
    for (size_t i = 0; i < change.staged_count; i++) {
        states[i] = change.staged[i];
    }
    state_count = change.staged_count;
    if (change.status != KW_OK) {
        destroy_states();
        fashion_ledger_fini(&ledger);
    }
    return change.status;
}

static kw_status stop(kw_error *err)
{
    if (fashion_ledger_read(&ledger).destroyed_count == 0) {
        destroy_states(); // the commit failed: they are still ours
    }
    const fashion_ledger_counts counts = fashion_ledger_read(&ledger);
    if (counts.early_count != 0 || counts.destroyed_count != counts.created_count) {
        err->status = KW_KERNEL_FAILED;
        (void)snprintf(err->text, sizeof err->text, "data of the plugin's kernels ended %s",
                       counts.early_count != 0 ? "under a running kernel" : "not at all");
        return err->status;
    }
    fashion_ledger_fini(&ledger);
    return KW_OK;
}

KW_PLUGIN = {
    KW_PLUGIN_LINKED,
    .name = FASHION_PLUGIN_NAME,
    .version = "1.0",
    .start = start,
    .stop = stop,
    .ns = "nn",
    .tensor_type = "fashion_tensor",
    .tensor_type_version = 1,
};
