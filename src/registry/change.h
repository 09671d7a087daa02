// Changes: applying and undoing one staged change on the registrations.
//
// Layer:   registry
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT

#ifndef KWI_REGISTRY_CHANGE_H
#define KWI_REGISTRY_CHANGE_H

#include "registry/commit.h"

// What a commit gathers while it applies changes.
typedef struct kwi_staging {
    kw_dispatcher *dispatcher;
    kw_operator *dirty; // operators to resolve anew, linked by next_dirty
    size_t dirty_count;
    kw_operator *last;          // of the change before, if it registered for one
    kwi_slotset fallback_slots; // of the fallbacks that come and go
    bool wants_events;          // somebody listens
    bool wants_lint;            // somebody wants to hear of lint
    kwi_pointers events;        // of kwi_event, in order
} kwi_staging;

// On failure the change has no effect.
kw_status kwi_change_apply(kwi_change *change, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer);

// Changes are undone in the reverse order of their application.
void kwi_change_undo(kwi_change *change, kwi_staging *staging) KWI_REQUIRES(kwi_role_writer);

// After publication: counts what the change added and gives up what it removed.
void kwi_change_finish(kwi_change *change, kwi_registration **dead) KWI_REQUIRES(kwi_role_writer);

// One change of what is active, before and after.
typedef struct kwi_activity {
    kw_event_kind kind;
    const kw_operator *op; // NULL for a fallback
    kw_key key;
    const kwi_registration *before;
    const kwi_registration *after;
} kwi_activity;

// Adds the event of a change, if somebody listens and something has changed.
kw_status kwi_staging_add_event(kwi_staging *staging, const kwi_activity *changed, kw_error *err)
    KWI_REQUIRES(kwi_role_writer);

// Takes a registration out of its owner's list, and puts it back where it was: the list has not
// shrunk meanwhile, so there is room.
void kwi_owner_take(kwi_registration *registration) KWI_REQUIRES(kwi_role_writer);
void kwi_owner_put_back(kwi_registration *registration) KWI_REQUIRES(kwi_role_writer);

// Puts an operator on the list of those to resolve.
void kwi_staging_mark(kwi_staging *staging, kw_operator *op) KWI_REQUIRES(kwi_role_writer);

#endif // KWI_REGISTRY_CHANGE_H
