// Watch: an observer of the network's operators, which counts calls and notes what served them.
//
// Layer:   example (uses keyway/observer.h)
// Threads: callbacks run in the threads that call
// SPDX-License-Identifier: MIT

#include "watch.h"

#include <keyway/call.h>

#include "clock.h"

// The word between start and end is the time of the start.
static void *start(const kw_observation *observation, void *context)
{
    (void)observation;
    (void)context;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a number in the word that the library hands on
    return (void *)(uintptr_t)serve_now_ns();
}

static void end(const kw_observation *observation, void *word, void *context)
{
    serve_watch *watch = context;
    const size_t op = serve_network_op(watch->network, observation->op);
    if (op == SERVE_OP_COUNT) {
        return;
    }
    // The keys are those that the kernel got, so their slot is the one that the call selected.
    const unsigned slot = kw_keyset_slot(observation->keys);
    serve_histogram_record(&watch->call_ns[op][slot], serve_now_ns() - (uint64_t)(uintptr_t)word);
    atomic_fetch_add_explicit(&watch->calls[op][slot], 1, memory_order_relaxed);
    atomic_store_explicit(&watch->last_slots[op], slot + 1, memory_order_relaxed);
    if (observation->status != KW_OK) {
        atomic_fetch_add_explicit(&watch->failures[op], 1, memory_order_relaxed);
    }
    serve_served *served = kw_call_context();
    if (served != NULL) {
        served->is_called[op] = true;
        served->slots[op] = slot;
    }
}

static void gone(void *context)
{
    serve_watch *watch = context;
    atomic_store(&watch->is_gone, true);
}

kw_status serve_watch_start(serve_watch *watch, kw_dispatcher *dispatcher,
                            const serve_network *network, kw_error *err)
{
    // snippet: observer
    static const char *const only[] = {"nn::*"};
    const kw_observer observer = {
        .struct_size = sizeof observer,
        .start = start,
        .end = end,
        .context = watch,
        .destroy = gone,
        .scopes = UINT64_C(1) << KW_SCOPE_CALL,
        .only = only,
        .only_count = sizeof only / sizeof only[0],
    };
    // end of snippet
    watch->network = network;
    watch->dispatcher = dispatcher;
    return kw_observer_add(dispatcher, &observer, &watch->number, err);
}

kw_status serve_watch_stop(serve_watch *watch, kw_error *err)
{
    if (watch->number == 0) {
        return KW_OK;
    }
    kw_status status = kw_observer_remove(watch->dispatcher, watch->number, err);
    watch->number = 0;
    // The end of the last call that it sees is the end of a thread's call, so this ends.
    while (status == KW_OK && !atomic_load(&watch->is_gone)) {
        status = kw_reclaim();
    }
    return status;
}
