// Swaps, libraries: the first ones, the last ones, and the end of those that were replaced.
//
// Layer:     example (uses swaps)
// Threads:   one at a time
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <stdbool.h>

#include "swaps.h"
#include "swaps_parts.h"

const char *const fashion_shelf_names[3] = {"kernels", "patches", "layers"};

void fashion_swaps_note_failure(fashion_swaps *swaps, const kw_error *err)
{
    if (swaps->first_error.status == KW_OK) {
        swaps->first_error = *err;
    }
    atomic_fetch_add_explicit(&swaps->failed_count, 1, memory_order_relaxed);
}

kw_status fashion_swaps_create_library(fashion_swaps *swaps, const char *name,
                                       kw_library **out_library, kw_error *err)
{
    const kw_library_options options = {
        .struct_size = sizeof options,
        .dispatcher = swaps->dispatcher,
        .name = name,
        .ns = "nn",
        .tensor_type = &fashion_tensor_type,
    };
    return kw_library_create(&options, out_library, err);
}

// Destroys a closed library if it is out of use after `wait_ns`.
static bool end_library(fashion_swaps *swaps, kw_library *library, uint64_t wait_ns)
{
    kw_error err = KW_ERROR_INIT;
    const kw_status status = kw_library_drain(library, wait_ns, &err);
    if (status == KW_OK && kw_library_destroy(library, &err) == KW_OK) {
        return true;
    }
    if (status != KW_BUSY) {
        fashion_swaps_note_failure(swaps, &err);
    }
    return false;
}

void fashion_swaps_sweep(fashion_swaps *swaps, uint64_t wait_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < swaps->closing_count; i++) {
        if (!end_library(swaps, swaps->closing[i], wait_ns)) {
            swaps->closing[kept++] = swaps->closing[i];
        }
    }
    swaps->closing_count = kept;
}

void fashion_swaps_retire(fashion_swaps *swaps, kw_library *take_library)
{
    kw_error err = KW_ERROR_INIT;
    if (take_library == NULL) {
        return;
    }
    if (kw_library_close(take_library, &err) != KW_OK) {
        fashion_swaps_note_failure(swaps, &err);
    }
    if (swaps->closing_count == FASHION_CLOSING_MAX) {
        fashion_swaps_sweep(swaps, KW_FOREVER);
    }
    if (swaps->closing_count < FASHION_CLOSING_MAX) {
        swaps->closing[swaps->closing_count++] = take_library;
    }
}

// The library that stays: operators, and the rule that calls with the key Tracer go on to the
// kernels below as long as there is no trace kernel.
static kw_status make_base(fashion_swaps *swaps, kw_error *err)
{
    const kw_kernel_descriptor fallthrough = KW_FALLTHROUGH();
    kw_status status = fashion_swaps_create_library(swaps, "operators", &swaps->base, err);
    if (status == KW_OK) {
        status = fashion_ops_define(swaps->dispatcher, swaps->base, err);
    }
    return status == KW_OK
               ? kw_library_fallback(swaps->base, KW_KEY_Tracer, &fallthrough, NULL, err)
               : status;
}

static kw_status make_shelves(fashion_swaps *swaps, kw_error *err)
{
    fashion_shelf *const shelves[] = {&swaps->serving, &swaps->patches, &swaps->layers};
    for (size_t i = 0; i < 3; i++) {
        const kw_status status =
            fashion_swaps_create_library(swaps, fashion_shelf_names[i], &shelves[i]->library, err);
        if (status != KW_OK) {
            return status;
        }
    }
    fashion_change change;
    fashion_change_begin(&change, swaps->dispatcher, swaps->ledger, err);
    for (int op = 0; op < FASHION_OP_COUNT; op++) {
        fashion_plain_stage(&change, swaps->serving.library, (fashion_op)op, KW_KEY_CPU,
                            &swaps->serving.slots[op]);
    }
    swaps->serving.count = FASHION_OP_COUNT;
    return fashion_change_commit(&change, false);
}

kw_status fashion_swaps_init(fashion_swaps *swaps, kw_dispatcher *dispatcher,
                             fashion_ledger *ledger, const fashion_options *options, kw_error *err)
{
    *swaps = (fashion_swaps){
        .dispatcher = dispatcher,
        .ledger = ledger,
        .options = options,
        .random = options->seed,
        .first_error = KW_ERROR_INIT,
    };
    atomic_init(&swaps->commit_count, 0);
    atomic_init(&swaps->failed_count, 0);
    kw_status status = make_base(swaps, err);
    if (status == KW_OK) {
        status = make_shelves(swaps, err);
    }
    return status == KW_OK && options->uses_plugins
               ? fashion_plugins_init(&swaps->plugins, dispatcher, options, err)
               : status;
}

void fashion_swaps_settle(fashion_swaps *swaps)
{
    fashion_swaps_sweep(swaps, KW_FOREVER);
}

void fashion_swaps_end_plugins(fashion_swaps *swaps)
{
    kw_error err = KW_ERROR_INIT;
    if (swaps->options->uses_plugins && fashion_plugins_end(&swaps->plugins, &err) != KW_OK) {
        fashion_swaps_note_failure(swaps, &err);
    }
}

void fashion_swaps_fini(fashion_swaps *swaps)
{
    fashion_swaps_settle(swaps);
    fashion_swaps_retire(swaps, swaps->layers.library);
    fashion_swaps_retire(swaps, swaps->patches.library);
    fashion_swaps_retire(swaps, swaps->serving.library);
    fashion_swaps_retire(swaps, swaps->base);
    fashion_swaps_settle(swaps);
}

size_t fashion_swaps_registered_count(const fashion_swaps *swaps)
{
    return swaps->serving.count + swaps->patches.count + swaps->layers.count;
}
