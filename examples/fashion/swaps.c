// Swaps: the changes of kernels that the demo makes under running calls, one commit each.
//
// Layer:     example (uses kernels, plugins, options)
// Threads:   one at a time
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "swaps.h"

#include <stdbool.h>

#include "swaps_parts.h"

// Above this rate a commit leaves freeing what it replaced to a later one: the wait for a grace
// period would cost more than the commit itself.
#define DEFER_ABOVE 2000

// Splitmix64: the sequence is the same on every machine.
static uint64_t random_below(fashion_swaps *swaps, uint64_t limit)
{
    swaps->random += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = swaps->random;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % limit;
}

static fashion_op random_op(fashion_swaps *swaps)
{
    return (fashion_op)random_below(swaps, FASHION_OP_COUNT);
}

static void begin(fashion_swaps *swaps, fashion_change *change, kw_error *err)
{
    fashion_change_begin(change, swaps->dispatcher, swaps->ledger, err);
}

static bool commit(fashion_swaps *swaps, fashion_change *change)
{
    if (fashion_change_commit(change, swaps->options->swaps_per_second > DEFER_ABOVE) != KW_OK) {
        fashion_swaps_note_failure(swaps, change->err);
        return false;
    }
    atomic_fetch_add_explicit(&swaps->commit_count, 1, memory_order_relaxed);
    return true;
}

// Stages a kernel that computes the operator's result. OpenBLAS more often than not, since a server
// would have its fast library in place most of the time.
static void stage_compute(fashion_swaps *swaps, fashion_change *change, kw_library *library,
                          fashion_op op, kw_key key, fashion_slot *out_slot)
{
    if (random_below(swaps, 4) == 0) {
        fashion_plain_stage(change, library, op, key, out_slot);
    } else {
        fashion_openblas_stage(change, library, op, key, out_slot);
    }
}

// The keys that a kernel for tensors in the memory of the CPU may be registered under.
static kw_key random_compute_key(fashion_swaps *swaps)
{
    static const kw_key keys[] = {KW_KEY_CPU, KW_KEY_CompositeExplicitAutograd,
                                  KW_KEY_CompositeImplicitAutograd};
    return keys[random_below(swaps, sizeof keys / sizeof keys[0])];
}

// What is removed for good: the lifetime self-check ends its data while calls may still run.
static void forget(fashion_swaps *swaps, const fashion_slot *slot)
{
    if (swaps->options->breaks_lifetime) {
        fashion_kernel_state_poison(slot->state);
    }
}

static void put_on_shelf(fashion_swaps *swaps, fashion_shelf *shelf, fashion_change *change,
                         const fashion_slot *slot)
{
    if (commit(swaps, change)) {
        shelf->slots[shelf->count++] = *slot;
    }
}

static void take_from_shelf(fashion_swaps *swaps, fashion_shelf *shelf)
{
    const size_t index = random_below(swaps, shelf->count);
    const fashion_slot slot = shelf->slots[index];
    fashion_change change;
    kw_error err = KW_ERROR_INIT;
    begin(swaps, &change, &err);
    fashion_change_remove(&change, shelf->library, &slot);
    if (commit(swaps, &change)) {
        forget(swaps, &slot);
        shelf->slots[index] = shelf->slots[--shelf->count];
    }
}

static void override(fashion_swaps *swaps)
{
    const fashion_op op = random_op(swaps);
    fashion_slot slot;
    fashion_change change;
    kw_error err = KW_ERROR_INIT;
    begin(swaps, &change, &err);
    if (swaps->options->breaks_kernel) {
        fashion_broken_stage(&change, swaps->patches.library, op, KW_KEY_CPU, &slot);
    } else {
        stage_compute(swaps, &change, swaps->patches.library, op, KW_KEY_CPU, &slot);
    }
    put_on_shelf(swaps, &swaps->patches, &change, &slot);
}

static void layer(fashion_swaps *swaps)
{
    const fashion_op op = random_op(swaps);
    kw_library *library = swaps->layers.library;
    fashion_slot slot;
    fashion_change change;
    kw_error err = KW_ERROR_INIT;
    begin(swaps, &change, &err);
    if (random_below(swaps, 2) == 0) {
        fashion_trace_stage(&change, library, op, KW_KEY_Tracer, &slot);
    } else {
        fashion_autograd_stage(&change, library, op, KW_KEY_AutogradCPU, &slot);
    }
    put_on_shelf(swaps, &swaps->layers, &change, &slot);
}

static void restore(fashion_swaps *swaps)
{
    fashion_slot *place = &swaps->serving.slots[random_op(swaps)];
    fashion_slot slot;
    fashion_change change;
    kw_error err = KW_ERROR_INIT;
    begin(swaps, &change, &err);
    fashion_change_remove(&change, swaps->serving.library, place);
    stage_compute(swaps, &change, swaps->serving.library, place->op, random_compute_key(swaps),
                  &slot);
    if (commit(swaps, &change)) {
        forget(swaps, place);
        *place = slot;
    }
}

// Closes the library of each old shelf and fills the new serving one, in one commit.
static bool exchange(fashion_swaps *swaps, fashion_shelf *const *old, fashion_shelf *fresh,
                     size_t count)
{
    kw_error err = KW_ERROR_INIT;
    for (size_t i = 0; i < count; i++) {
        if (fashion_swaps_create_library(swaps, fashion_shelf_names[i], &fresh[i].library, &err) !=
            KW_OK) {
            fashion_swaps_note_failure(swaps, &err);
            return false;
        }
    }
    fashion_change change;
    begin(swaps, &change, &err);
    for (size_t i = 0; i < count; i++) {
        fashion_change_close(&change, old[i]->library);
    }
    for (int op = 0; op < FASHION_OP_COUNT; op++) {
        stage_compute(swaps, &change, fresh[0].library, (fashion_op)op, random_compute_key(swaps),
                      &fresh[0].slots[op]);
    }
    fresh[0].count = FASHION_OP_COUNT;
    return commit(swaps, &change);
}

static void swap_libraries(fashion_swaps *swaps)
{
    fashion_shelf *const old[] = {&swaps->serving, &swaps->patches, &swaps->layers};
    fashion_shelf fresh[] = {{.count = 0}, {.count = 0}, {.count = 0}};
    const size_t count = random_below(swaps, 3) == 0 ? 3 : 1;
    const bool is_done = exchange(swaps, old, fresh, count);
    for (size_t i = 0; i < count; i++) {
        fashion_swaps_retire(swaps, is_done ? old[i]->library : fresh[i].library);
        if (is_done) {
            *old[i] = fresh[i];
        }
    }
    fashion_swaps_sweep(swaps, 0);
}

// What to do instead of a change that is not possible: with full or empty shelves.
static fashion_swap possible(const fashion_swaps *swaps, fashion_swap wanted)
{
    if (wanted == FASHION_SWAP_OVERRIDE && swaps->patches.count == FASHION_SHELF_MAX) {
        return FASHION_SWAP_UNCOVER;
    }
    if (wanted == FASHION_SWAP_UNCOVER && swaps->patches.count == 0) {
        return FASHION_SWAP_OVERRIDE;
    }
    if (wanted == FASHION_SWAP_LAYER && swaps->layers.count == FASHION_SHELF_MAX) {
        return FASHION_SWAP_UNLAYER;
    }
    if (wanted == FASHION_SWAP_UNLAYER && swaps->layers.count == 0) {
        return FASHION_SWAP_LAYER;
    }
    return wanted;
}

static void change_plugin(fashion_swaps *swaps)
{
    kw_error err = KW_ERROR_INIT;
    if (fashion_plugins_step(&swaps->plugins, &err) == KW_OK) {
        atomic_fetch_add_explicit(&swaps->commit_count, 1, memory_order_relaxed);
    } else {
        fashion_swaps_note_failure(swaps, &err);
    }
}

static void change_kernel(fashion_swaps *swaps)
{
    static const fashion_swap weighted[] = {
        FASHION_SWAP_OVERRIDE, FASHION_SWAP_OVERRIDE, FASHION_SWAP_UNCOVER,
        FASHION_SWAP_UNCOVER,  FASHION_SWAP_RESTORE,  FASHION_SWAP_RESTORE,
        FASHION_SWAP_LAYER,    FASHION_SWAP_UNLAYER,  FASHION_SWAP_LIBRARY,
    };
    const size_t choice = random_below(swaps, sizeof weighted / sizeof weighted[0]);
    const fashion_swap swap = possible(swaps, weighted[choice]);
    swaps->counts[swap]++;
    switch (swap) {
    case FASHION_SWAP_OVERRIDE:
        override(swaps);
        break;
    case FASHION_SWAP_UNCOVER:
        take_from_shelf(swaps, &swaps->patches);
        break;
    case FASHION_SWAP_RESTORE:
        restore(swaps);
        break;
    case FASHION_SWAP_LAYER:
        layer(swaps);
        break;
    case FASHION_SWAP_UNLAYER:
        take_from_shelf(swaps, &swaps->layers);
        break;
    case FASHION_SWAP_LIBRARY:
        swap_libraries(swaps);
        break;
    case FASHION_SWAP_COUNT:
        break;
    }
}

void fashion_swaps_step(fashion_swaps *swaps)
{
    if (swaps->options->uses_plugins) {
        change_plugin(swaps);
    } else {
        change_kernel(swaps);
    }
}
