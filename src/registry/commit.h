// Commits: applying a group of changes as a whole, or not at all.
//
// Layer:   registry
// Threads: any; one commit at a time.
// SPDX-License-Identifier: MIT
//
// Note [Commit]
//
// Changes are applied to the registrations one by one, each remembering how it is undone; then
// every affected operator is resolved. Up to there anything may fail, and is undone in the reverse
// order. From the first publication on nothing can fail: tables first, then the version, which is
// the instant the commit happens for every thread.

#ifndef KWI_REGISTRY_COMMIT_H
#define KWI_REGISTRY_COMMIT_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/dispatcher.h>

#include "base/role.h"
#include "base/vector.h"
#include "registry/intern.h"
#include "registry/registration.h"

typedef enum kwi_change_kind {
    KWI_CHANGE_DEFINE = 1,
    KWI_CHANGE_IMPL = 2,
    KWI_CHANGE_FALLBACK = 3,
    KWI_CHANGE_REMOVE = 4,
    KWI_CHANGE_CLOSE = 5,
} kwi_change_kind;

// One staged change. Zeroed but for what its kind needs.
typedef struct kwi_change {
    kwi_change_kind kind;
    bool is_applied; // guard: lock writer
    kwi_owner *owner;
    kwi_definition *definition; // DEFINE
    kwi_kernel *kernel;         // IMPL, FALLBACK
    union {
        const char *name; // IMPL: the full name; borrowed, as long as the change
        uint64_t id;      // REMOVE
    };

    // How it is undone. guard: lock writer.
    kwi_interning entry;  // DEFINE, IMPL
    kwi_pointers removed; // REMOVE, CLOSE, replacing IMPL: what was taken out, in that order
} kwi_change;

// Applies the changes and publishes. On success the records of the changes belong to the registry;
// otherwise everything is as before and they still belong to the caller. Tells the listeners.
kw_status kwi_commit(kw_dispatcher *dispatcher, kwi_change *changes, size_t change_count,
                     bool defer_reclaim, uint64_t *out_version, kw_error *err)
    KWI_EXCLUDES(kwi_role_writer);

// The same for one change of a dispatcher's observers. On failure of an addition the record is
// still the caller's.
struct kwi_observer_change;
kw_status kwi_commit_observer(kw_dispatcher *dispatcher, struct kwi_observer_change *change,
                              kw_error *err) KWI_EXCLUDES(kwi_role_writer);

#endif // KWI_REGISTRY_COMMIT_H
