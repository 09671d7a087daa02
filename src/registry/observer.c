// Observers: attaching and taking away, and which of them an operator's table names.
//
// Layer:   registry
// Threads: under the writer lock, but for creation and the last hold.
// SPDX-License-Identifier: MIT

#include "registry/observer.h"

#include "base/memory.h"
#include "registry/dispatcher.h"
#include "registry/observer_filter.h"
#include "registry/operator.h"

// Observers that a scope of the host's own may have.
#define NOT_CALLS (~(UINT64_C(1) << KW_SCOPE_CALL))

// guard: lock writer.
static uint64_t newest_number KWI_GUARDED_BY(kwi_role_writer);

static bool wants_scopes(const kwi_observer *observer, uint64_t scopes)
{
    return observer->told.scopes == 0 || (observer->told.scopes & scopes) != 0;
}

// The dispatcher's nameless operator stands for scopes of the host's own.
static bool wants(const kwi_observer *observer, const kw_operator *op) KWI_REQUIRES(kwi_role_writer)
{
    if (!observer->is_enabled) {
        return false;
    }
    if (op == op->dispatcher->fallback_op) {
        return wants_scopes(observer, NOT_CALLS);
    }
    return wants_scopes(observer, ~NOT_CALLS) && kwi_observer_wants_name(observer, op->name);
}

size_t kwi_observers_of(const kw_operator *op, const void **out_observers)
{
    const kwi_pointers *all = &op->dispatcher->observers;
    size_t count = 0;
    for (int of_one_thread = 0; of_one_thread <= 1; of_one_thread++) { // Q3
        for (size_t i = 0; i < all->count; i++) {
            const kwi_observer *observer = all->items[i];
            if ((observer->thread != 0) == of_one_thread && wants(observer, op)) {
                out_observers[count++] = observer;
            }
        }
    }
    return count;
}

void kwi_observers_retain(const kw_table *table)
{
    const void *const *observers = kwi_table_observers(table);
    for (unsigned i = 0; i < table->observer_count; i++) {
        kwi_registration_retain(&((kwi_observer *)(uintptr_t)observers[i])->registration);
    }
}

void kwi_observers_release(const kw_table *table, kwi_registration **dead)
{
    const void *const *observers = kwi_table_observers(table);
    for (unsigned i = 0; i < table->observer_count; i++) {
        kwi_registration_release(&((kwi_observer *)(uintptr_t)observers[i])->registration, dead);
    }
}

// Changes -----------------------------------------------------------------------------------------

// Operators whose tables name another set of observers now, or may.
static void mark(kwi_staging *staging, const kwi_observer *observer) KWI_REQUIRES(kwi_role_writer)
{
    kw_dispatcher *dispatcher = staging->dispatcher;
    kwi_staging_mark(staging, dispatcher->fallback_op);
    for (kw_operator *op = dispatcher->operators; op != NULL; op = op->next) {
        if (kwi_operator_has_registration(op) && kwi_observer_wants_name(observer, op->name)) {
            kwi_staging_mark(staging, op);
        }
    }
}

static kw_status add(kwi_observer_change *change, kw_dispatcher *dispatcher, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    if (dispatcher->observers.count == KW_OBSERVERS_MAX) {
        return kwi_fail(err, KW_BUSY, "the dispatcher has %d observers already; remove one",
                        KW_OBSERVERS_MAX);
    }
    if (!kwi_pointers_reserve(&dispatcher->observers, 1)) {
        return kwi_fail_memory(err);
    }
    (void)kwi_pointers_add(&dispatcher->observers, change->observer); // room was reserved
    change->observer->is_enabled = !change->observer->told.disabled;
    change->number = ++newest_number;
    change->observer->number = change->number; // numbers of failed additions are not used again
    return KW_OK;
}

static bool find(kwi_observer_change *change, const kw_dispatcher *dispatcher)
    KWI_REQUIRES(kwi_role_writer)
{
    for (size_t i = 0; i < dispatcher->observers.count; i++) {
        kwi_observer *observer = dispatcher->observers.items[i];
        if (observer->number == change->number) {
            change->observer = observer;
            change->at = i;
            change->was_enabled = observer->is_enabled;
            return true;
        }
    }
    return false;
}

kw_status kwi_observer_apply(kwi_observer_change *change, kwi_staging *staging, kw_error *err)
{
    kw_dispatcher *dispatcher = staging->dispatcher;
    if (change->act == KWI_OBSERVER_ADD) {
        kw_status status = add(change, dispatcher, err);
        if (status != KW_OK) {
            return status;
        }
    } else if (!find(change, dispatcher)) {
        return kwi_fail(err, KW_NOT_FOUND, "the dispatcher has no observer %llu",
                        (unsigned long long)change->number);
    }
    if (change->act == KWI_OBSERVER_REMOVE) {
        kwi_pointers_remove(&dispatcher->observers, change->at);
    } else if (change->act != KWI_OBSERVER_ADD) {
        change->observer->is_enabled = change->act == KWI_OBSERVER_ENABLE;
    }
    mark(staging, change->observer);
    return KW_OK;
}

void kwi_observer_undo(kwi_observer_change *change, kw_dispatcher *dispatcher)
{
    switch (change->act) {
    case KWI_OBSERVER_ADD:
        kwi_pointers_remove(&dispatcher->observers, dispatcher->observers.count - 1);
        break;
    case KWI_OBSERVER_REMOVE:
        // The list does not shrink, so there is room.
        kwi_pointers_insert(&dispatcher->observers, change->at, change->observer);
        break;
    case KWI_OBSERVER_ENABLE:
    case KWI_OBSERVER_DISABLE:
        change->observer->is_enabled = change->was_enabled;
        break;
    }
}

void kwi_observer_finish(kwi_observer_change *change, kwi_registration **dead)
{
    if (change->act == KWI_OBSERVER_ADD) {
        kwi_registration_retain(&change->observer->registration);
    } else if (change->act == KWI_OBSERVER_REMOVE) {
        kwi_registration_release(&change->observer->registration, dead);
    }
}

// The end -----------------------------------------------------------------------------------------

void kwi_observer_let_go(kwi_observer *observer)
{
    if (kwi_u64_sub_release(&observer->holds, 1) > 1) { // [pair: observer-hold]
        return;
    }
    // Everything that others did under their holds comes before. [pair: observer-hold]
    (void)kwi_u64_load_acquire(&observer->holds);
    if (observer->told.destroy != NULL) {
        observer->told.destroy(observer->told.context);
    }
    kwi_observer_free(observer);
}

kwi_registration *kwi_observers_part(kwi_registration *dead, kwi_registration **observers)
{
    kwi_registration *rest = NULL;
    kwi_registration **last = &rest;
    for (kwi_registration *each = dead, *next; each != NULL; each = next) {
        next = each->next_dead;
        if (each->kind == KWI_REGISTRATION_OBSERVER) {
            each->next_dead = *observers;
            *observers = each;
        } else {
            *last = each;
            last = &each->next_dead;
        }
    }
    *last = NULL;
    return rest;
}

void kwi_observers_let_go(kwi_registration *dead)
{
    for (kwi_registration *each = dead, *next; each != NULL; each = next) {
        next = each->next_dead;
        kwi_observer_let_go((kwi_observer *)(void *)each);
    }
}
