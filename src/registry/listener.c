// Listeners: who is told of changes, and the telling.
//
// Layer:   registry
// Threads: the list is under the writer lock; listeners run outside it.
// SPDX-License-Identifier: MIT

#include "registry/listener.h"

#include <stddef.h>

#include <keyway/snapshot.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"
#include "registry/dispatcher.h"
#include "registry/world.h"

void kwi_events_free(kwi_pointers *events)
{
    for (size_t i = 0; i < events->count; i++) {
        kwi_free(events->items[i], sizeof(kwi_event));
    }
    kwi_pointers_fini(events);
}

static void end_listener(kwi_listener *listener)
{
    const kw_listener told = listener->listener;
    kw_lease *lease = listener->lease;
    kwi_free(listener, sizeof *listener);
    kwi_lease_finish(lease, told.destroy, told.context);
}

// A counted copy of the list, so that listeners can come and go while it is told.
static bool copy_list(const kwi_listeners *listeners, kwi_pointers *out_copy)
    KWI_REQUIRES(kwi_role_writer)
{
    if (!kwi_pointers_reserve(out_copy, listeners->list.count)) {
        return false;
    }
    for (size_t i = 0; i < listeners->list.count; i++) {
        kwi_listener *listener = listeners->list.items[i];
        listener->reference_count++;
        (void)kwi_pointers_add(out_copy, listener); // room was reserved
    }
    return true;
}

static void release_listener(kwi_listener *listener) KWI_EXCLUDES(kwi_role_writer)
{
    kwi_world_lock();
    bool last = --listener->reference_count == 0;
    kwi_world_unlock();
    if (last) {
        end_listener(listener);
    }
}

static void release_copy(kwi_pointers *copy) KWI_EXCLUDES(kwi_role_writer)
{
    for (size_t i = 0; i < copy->count; i++) {
        release_listener(copy->items[i]);
    }
    kwi_pointers_fini(copy);
}

static bool is_lint(uint32_t kind)
{
    return kind == KW_EVENT_HIDDEN_COMPOSITE || kind == KW_EVENT_AMBIGUOUS;
}

bool kwi_listeners_want_lint(const kwi_listeners *listeners)
{
    for (size_t i = 0; i < listeners->list.count; i++) {
        const kwi_listener *listener = listeners->list.items[i];
        if (listener->listener.wants_lint) {
            return true;
        }
    }
    return false;
}

static void tell(const kwi_listener *listener, const kwi_event *event, uint64_t version)
{
    if (is_lint(event->kind) && !listener->listener.wants_lint) {
        return;
    }
    const kw_event told = {
        .struct_size = sizeof told,
        .kind = event->kind,
        .key = event->key,
        .version = version,
        .op = event->op,
        .previous = event->previous[0] != '\0' ? event->previous : NULL,
        .current = event->current[0] != '\0' ? event->current : NULL,
        .previous_registration = event->previous_registration,
        .current_registration = event->current_registration,
        .previous_priority = event->previous_priority,
        .current_priority = event->current_priority,
    };
    listener->listener.event(&told, listener->listener.context);
}

void kwi_listeners_tell(kw_dispatcher *dispatcher, kwi_pointers *take_events, uint64_t version)
{
    if (take_events->count > 0) {
        kwi_pointers copy = {0};
        kwi_world_lock();
        bool copied = copy_list(&dispatcher->listeners, &copy);
        kwi_world_unlock();
        for (size_t i = 0; copied && i < take_events->count; i++) {
            for (size_t j = 0; j < copy.count; j++) {
                tell(copy.items[j], take_events->items[i], version);
            }
        }
        release_copy(&copy);
    }
    kwi_events_free(take_events);
}

void kwi_event_tell(kw_event_kind kind, const char *op, const char *sentence)
{
    kwi_event event = {.kind = (uint32_t)kind, .op = op};
    kwi_text text;
    kwi_text_init(&text, event.current, sizeof event.current);
    kwi_text_add(&text, "%s", sentence);
    kwi_pointers copy = {0};
    bool copied = true;
    kwi_world_lock();
    for (kw_dispatcher *each = kwi_the_world.dispatchers; each != NULL && copied;
         each = each->next) {
        copied = copy_list(&each->listeners, &copy);
    }
    uint64_t version = kw_version();
    kwi_world_unlock();
    for (size_t i = 0; copied && i < copy.count; i++) {
        tell(copy.items[i], &event, version);
    }
    release_copy(&copy);
}

// The events that tell a new listener of what is defined already.
static bool collect_definitions(const kw_dispatcher *dispatcher, kwi_pointers *events)
    KWI_REQUIRES(kwi_role_writer)
{
    for (const kw_operator *op = dispatcher->operators; op != NULL; op = op->next) {
        if (op->definition == NULL) {
            continue;
        }
        kwi_event *event = kwi_allocate(sizeof *event);
        if (event == NULL || !kwi_pointers_add(events, event)) {
            kwi_free(event, sizeof *event);
            return false;
        }
        event->kind = KW_EVENT_DEFINED;
        event->op = op->name;
        event->current_registration = op->definition->id;
        kwi_text text;
        kwi_text_init(&text, event->current, sizeof event->current);
        kwi_registration_describe(&op->definition->registration, &text);
    }
    return true;
}

static bool add_listener(kw_dispatcher *dispatcher, kwi_listener *listener, kwi_pointers *events)
    KWI_REQUIRES(kwi_role_writer)
{
    if (!kwi_pointers_reserve(&dispatcher->listeners.list, 1) ||
        !collect_definitions(dispatcher, events)) {
        return false;
    }
    listener->id = ++dispatcher->listeners.newest_id;
    listener->reference_count = 2; // the list's, and that of the telling below
    (void)kwi_pointers_add(&dispatcher->listeners.list, listener); // room was reserved
    return true;
}

static kw_status check_listener(const kw_listener *listener, kw_error *err)
{
    kw_status status = kwi_options_check(listener, sizeof *listener, "kw_listener", err);
    if (status == KW_OK && listener->event == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "a listener needs a function to be told by");
    }
    return status;
}

// Makes a copy that holds the library it names.
static kw_status fill_listener(kwi_listener *made, const kw_listener *listener, kw_error *err)
{
    made->listener = *listener;
    return listener->library == NULL
               ? KW_OK
               : kwi_lease_take(kwi_lessor_of(listener->library), "listener", &made->lease, err);
}

kw_status kw_dispatcher_listen(kw_dispatcher *dispatcher, const kw_listener *listener,
                               uint64_t *out_id, kw_error *err)
{
    if (dispatcher == NULL || out_id == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a listener needs a dispatcher and a place for its number");
    }
    kw_status status = check_listener(listener, err);
    kwi_listener *made = status == KW_OK ? kwi_allocate(sizeof *made) : NULL;
    if (made == NULL) {
        return status == KW_OK ? kwi_fail_memory(err) : status;
    }
    status = fill_listener(made, listener, err);
    if (status != KW_OK) {
        kwi_free(made, sizeof *made);
        return status;
    }
    kwi_pointers events = {0};
    kwi_world_lock();
    bool added = add_listener(dispatcher, made, &events);
    uint64_t version = kw_version();
    uint64_t id = made->id;
    kwi_world_unlock();
    if (!added) {
        kwi_events_free(&events);
        kw_lease_end(made->lease);
        kwi_free(made, sizeof *made);
        return kwi_fail_memory(err);
    }
    *out_id = id;
    for (size_t i = 0; i < events.count; i++) {
        tell(made, events.items[i], version);
    }
    kwi_events_free(&events);
    release_listener(made);
    return KW_OK;
}

kw_status kw_dispatcher_unlisten(kw_dispatcher *dispatcher, uint64_t id)
{
    if (dispatcher == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_listener *found = NULL;
    kwi_world_lock();
    kwi_pointers *list = &dispatcher->listeners.list;
    for (size_t i = 0; i < list->count && found == NULL; i++) {
        kwi_listener *listener = list->items[i];
        if (listener->id == id) {
            found = listener;
            kwi_pointers_remove(list, i);
        }
    }
    kwi_world_unlock();
    if (found == NULL) {
        return KW_NOT_FOUND;
    }
    release_listener(found);
    return KW_OK;
}

void kwi_listeners_fini(kwi_listeners *listeners)
{
    for (size_t i = 0; i < listeners->list.count; i++) {
        release_listener(listeners->list.items[i]); // an event of the process may be under way
    }
    kwi_pointers_fini(&listeners->list);
}
