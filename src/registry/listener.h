// Listeners: who is told of changes, and the telling.
//
// Layer:   registry
// Threads: the list is under the writer lock; listeners run outside it, in the committing thread.
// SPDX-License-Identifier: MIT

#ifndef KWI_REGISTRY_LISTENER_H
#define KWI_REGISTRY_LISTENER_H

#include <stdint.h>

#include <keyway/dispatcher.h>

#include "base/role.h"
#include "base/vector.h"
#include "value/lease.h"

typedef struct kwi_listener {
    kw_listener listener;
    uint64_t id;
    uint64_t reference_count; // the list's, and one for each telling under way
    kw_lease *lease;          // on the library that it names, or NULL
} kwi_listener;

typedef struct kwi_listeners {
    // guard: lock writer. Of kwi_listener.
    kwi_pointers list;
    uint64_t newest_id;
} kwi_listeners;

// Longest provenance sentence that an event carries.
#define KWI_EVENT_TEXT_BYTES 256

// One change, kept until it is told.
typedef struct kwi_event {
    uint32_t kind;
    kw_key key;
    const char *op; // the entry's name, which outlives the event; NULL for a fallback
    uint64_t previous_registration; // 0: none
    uint64_t current_registration;
    int32_t previous_priority;
    int32_t current_priority;
    char previous[KWI_EVENT_TEXT_BYTES]; // "": none
    char current[KWI_EVENT_TEXT_BYTES];
} kwi_event;

// Tells every listener of the dispatcher of every event, in order, and frees the events. Without
// memory for the list of listeners nobody is told.
void kwi_listeners_tell(kw_dispatcher *dispatcher, kwi_pointers *take_events, uint64_t version)
    KWI_EXCLUDES(kwi_role_writer);

// Tells the listeners of every dispatcher of something that concerns the process: KW_EVENT_BACKLOG
// and so on. `op` is an operator's name, or NULL. Like other events, without memory for the list
// nobody is told.
void kwi_event_tell(kw_event_kind kind, const char *op, const char *sentence)
    KWI_EXCLUDES(kwi_role_writer);

// Whether a listener wants lint.
bool kwi_listeners_want_lint(const kwi_listeners *listeners) KWI_REQUIRES(kwi_role_writer);

void kwi_events_free(kwi_pointers *events);
void kwi_listeners_fini(kwi_listeners *listeners) KWI_EXCLUDES(kwi_role_writer);

#endif // KWI_REGISTRY_LISTENER_H
