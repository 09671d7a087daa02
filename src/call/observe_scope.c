// Observers from outside: adding and removing them, and scopes that the host opens itself.
//
// Layer:   call
// Threads: any.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/call.h>
#include <keyway/inline/call.h>

#include "base/options.h"
#include "base/text.h"
#include "call/observe.h"
#include "registry/commit.h"
#include "registry/dispatcher.h"

// guard: cell. Relaxed: only uniqueness matters.
static kwi_u64_cell newest_thread;

// The number by which observers know the calling thread; 0: it cannot be attached.
static uint64_t this_thread(void)
{
    kwi_thread_block *block = kwi_thread_attach();
    if (block == NULL) {
        return 0;
    }
    kwi_observing *observing = &kwi_call_area_of(block)->observing;
    if (observing->thread_number == 0) {
        observing->thread_number = kwi_u64_add_relaxed(&newest_thread, 1) + 1; // relaxed: see there
    }
    return observing->thread_number;
}

kw_status kw_observer_add(kw_dispatcher *dispatcher, const kw_observer *observer,
                          uint64_t *out_number, kw_error *err)
{
    if (dispatcher == NULL || out_number == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "an observer needs a dispatcher and a place for its number");
    }
    kw_status status = kwi_options_check(observer, sizeof *observer, "kw_observer", err);
    if (status != KW_OK) {
        return status;
    }
    uint64_t thread = observer->this_thread ? this_thread() : 0;
    if (observer->this_thread && thread == 0) {
        return kwi_fail_memory(err);
    }
    kwi_observer_change change = {.act = KWI_OBSERVER_ADD};
    status = kwi_observer_create(observer, thread, &change.observer, err);
    if (status != KW_OK) {
        return status;
    }
    kwi_observer *made = change.observer;
    status = kwi_commit_observer(dispatcher, &change, err);
    if (status == KW_OK) {
        *out_number = change.number;
    } else {
        kwi_observer_free(made);
    }
    return status;
}

kw_status kw_observer_remove(kw_dispatcher *dispatcher, uint64_t number, kw_error *err)
{
    kwi_observer_change change = {.act = KWI_OBSERVER_REMOVE, .number = number};
    return dispatcher != NULL ? kwi_commit_observer(dispatcher, &change, err)
                              : kwi_fail(err, KW_INVALID_ARGUMENT, "there is no dispatcher");
}

kw_status kw_observer_enable(kw_dispatcher *dispatcher, uint64_t number, bool enabled,
                             kw_error *err)
{
    kwi_observer_change change = {.act = enabled ? KWI_OBSERVER_ENABLE : KWI_OBSERVER_DISABLE,
                                  .number = number};
    return dispatcher != NULL ? kwi_commit_observer(dispatcher, &change, err)
                              : kwi_fail(err, KW_INVALID_ARGUMENT, "there is no dispatcher");
}

// Scopes ------------------------------------------------------------------------------------------

static kw_observation observation_of(const kw_observed_scope *scope, kw_status status)
{
    return (kw_observation){
        .struct_size = sizeof(kw_observation),
        .scope = scope->scope,
        .status = status,
        .name = scope->name,
    };
}

kw_status kw_observe_begin(kw_dispatcher *dispatcher, uint32_t scope, const char *name,
                           kw_observed_scope *out_scope)
{
    if (dispatcher == NULL || name == NULL || out_scope == NULL || scope == KW_SCOPE_CALL ||
        scope >= KW_SCOPE_LIMIT) {
        return KW_INVALID_ARGUMENT;
    }
    // The announcement keeps the observers until each that was started has a hold.
    kw_call call = kw_call_begin(dispatcher->fallback_op);
    if (call.table == NULL) {
        return kw_call_refused(dispatcher->fallback_op);
    }
    uint32_t depth = kw_call_depth(call);
    out_scope->name = name;
    out_scope->scope = scope;
    out_scope->count = 0;
    kwi_call_area *area = kwi_call_area_of(kwi_thread_current());
    if (call.table->observer_count > 0 && !area->observing.is_in_callback) {
        kw_observation observation = observation_of(out_scope, KW_OK);
        kwi_observers started;
        kwi_observe_start(area, call.table, &observation, NULL, &started);
        for (uint32_t i = 0; i < started.count; i++) {
            kwi_observer *observer = (kwi_observer *)(uintptr_t)started.list[i];
            (void)kwi_u64_add_relaxed(&observer->holds, 1); // relaxed: its table has one
            out_scope->observers[i] = observer;
            out_scope->words[i] = started.words[i];
        }
        out_scope->count = started.count;
    }
    kw_call_end(call, depth);
    return KW_OK;
}

void kw_observe_end(kw_observed_scope *scope, kw_status status)
{
    kwi_thread_block *block = kwi_thread_current();
    if (scope == NULL || scope->count == 0 || block == NULL) {
        return;
    }
    kwi_observers started = {.count = scope->count};
    memcpy(started.list, scope->observers, scope->count * sizeof(void *));
    memcpy(started.words, scope->words, scope->count * sizeof(void *));
    scope->count = 0;
    kw_observation observation = observation_of(scope, status);
    kwi_observe_end(kwi_call_area_of(block), &observation, NULL, &started);
    for (uint32_t i = 0; i < started.count; i++) {
        kwi_observer_let_go((kwi_observer *)(uintptr_t)started.list[i]);
    }
}
