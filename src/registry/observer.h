// Observers: their records, and which of them an operator's table names.
//
// Layer:   registry
// Threads: under the writer lock, but for the immutable parts that a table or a scope keeps alive.
// SPDX-License-Identifier: MIT
//
// Q1  An observer is counted as a kernel is (G1): once while it is attached, once for each unfreed
//     table that names it.
// Q2  Beyond that it has a hold for all of them together and one for each open scope that it has
//     started. The last one destroys it.
// Q3  A table names the enabled observers that want its operator: those of all threads first, then
//     those of one, each in the order of their addition.

#ifndef KWI_REGISTRY_OBSERVER_H
#define KWI_REGISTRY_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/inline/cell.h>
#include <keyway/inline/table.h>
#include <keyway/observer.h>

#include "base/role.h"
#include "base/vector.h"
#include "registry/change.h"
#include "registry/registration.h"

typedef struct kwi_observer {
    // guard: immutable, but for what its own card says. It has neither owner nor name.
    kwi_registration registration;

    // guard: immutable.
    kw_observer told;    // `only` and `except` are NULL: the copies are below
    kwi_pointers only;   // of char
    kwi_pointers except; // of char
    uint64_t number;     // as handed out
    uint64_t thread;     // the only thread that is observed; 0: all
    uint64_t threshold;  // observed if a random word is below it; 0: by countdown, or always
    double rate;         // of a countdown: -ln(1 - probability); 0: no countdown

    // guard: lock writer.
    bool is_enabled KWI_GUARDED_BY(kwi_role_writer);

    // guard: cell. See Q2. Relaxed up, by a thread inside a table that names it; release down,
    // acquire after the last. [pair: observer-hold]
    kwi_u64_cell holds;
} kwi_observer;

typedef enum kwi_observer_act {
    KWI_OBSERVER_ADD = 1,
    KWI_OBSERVER_REMOVE = 2,
    KWI_OBSERVER_ENABLE = 3,
    KWI_OBSERVER_DISABLE = 4,
} kwi_observer_act;

typedef struct kwi_observer_change {
    kwi_observer_act act;
    kwi_observer *observer; // ADD: not attached yet; otherwise found by `number`
    uint64_t number;

    // How it is undone. guard: lock writer.
    size_t at; // REMOVE: where it was in the list
    bool was_enabled;
} kwi_observer_change;

// As kwi_change_apply(), kwi_change_undo() and kwi_change_finish().
kw_status kwi_observer_apply(kwi_observer_change *change, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer);
void kwi_observer_undo(kwi_observer_change *change, kw_dispatcher *dispatcher)
    KWI_REQUIRES(kwi_role_writer);
void kwi_observer_finish(kwi_observer_change *change, kwi_registration **dead)
    KWI_REQUIRES(kwi_role_writer);

// Creates a record that is not attached; `thread` as in the record.
kw_status kwi_observer_create(const kw_observer *observer, uint64_t thread,
                              kwi_observer **out_observer, kw_error *err);

// Frees a record without calling `destroy`.
void kwi_observer_free(kwi_observer *observer);

// Writes the observers of an operator's next table, room for KW_OBSERVERS_MAX, and returns how
// many.
size_t kwi_observers_of(const kw_operator *op, const void **out_observers)
    KWI_REQUIRES(kwi_role_writer);

// One reference more to each observer that a table names, or one fewer.
void kwi_observers_retain(const kw_table *table) KWI_REQUIRES(kwi_role_writer);
void kwi_observers_release(const kw_table *table, kwi_registration **dead)
    KWI_REQUIRES(kwi_role_writer);

// Moves the observers of a list of the dead to the front of another, and returns the rest.
kwi_registration *kwi_observers_part(kwi_registration *dead, kwi_registration **observers)
    KWI_REQUIRES(kwi_role_writer);

// Gives up the hold that a list of dead observers has of each.
void kwi_observers_let_go(kwi_registration *dead) KWI_EXCLUDES(kwi_role_writer);

// Gives up one hold; the last one runs `destroy` and frees the record.
void kwi_observer_let_go(kwi_observer *observer) KWI_EXCLUDES(kwi_role_writer);

#endif // KWI_REGISTRY_OBSERVER_H
