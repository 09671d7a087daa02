// Plans: what a writer of the storm is about to change, and what its registrations amount to.
//
// Layer:   stress
// Threads: a plan belongs to its writer.
// SPDX-License-Identifier: MIT

#ifndef STRESS_SCENARIOS_STORM_PLAN_H
#define STRESS_SCENARIOS_STORM_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/transaction.h>

#include "driver/worker.h"
#include "shared/history.h"

#define STRESS_STORM_LIBRARIES 2 // of each writer
#define STRESS_ENTRY_LIMIT 40
#define STRESS_CHANGE_LIMIT 6

typedef enum stress_entry_kind {
    STRESS_DEFINITION,
    STRESS_CPU,
    STRESS_CPU_BOXED,
    STRESS_AUTOGRAD,
    STRESS_AUTOGRAD_FALLTHROUGH,
    STRESS_FALLBACK_KERNEL,
    STRESS_KIND_LIMIT
} stress_entry_kind;

// One registration, as the writer models it.
typedef struct stress_entry {
    stress_entry_kind kind;
    unsigned op; // among the writer's own
    unsigned library;
    kw_registration registration; // 0: planned and not made
    uint64_t id;
} stress_entry;

// In the order of registration: the last one of a key covers the others.
typedef struct stress_model {
    stress_entry entries[STRESS_ENTRY_LIMIT];
    unsigned count;
} stress_model;

typedef enum stress_change_kind {
    STRESS_ADD,
    STRESS_REMOVE_ONE,
    STRESS_CLOSE_LIBRARY
} stress_change_kind;

typedef struct stress_change {
    stress_change_kind kind;
    stress_entry entry; // ADD, REMOVE_ONE
    unsigned library;   // CLOSE_LIBRARY
} stress_change;

typedef struct stress_plan {
    stress_model after; // what there is when all changes are made
    stress_change changes[STRESS_CHANGE_LIMIT];
    unsigned change_count;
    bool is_closing[STRESS_STORM_LIBRARIES];
} stress_plan;

// Plans some changes of what is there `now`, or the closing of everything.
void stress_plan_make(stress_plan *plan, const stress_model *now, stress_worker *worker);
void stress_plan_end(stress_plan *plan);

// Notes the number of a registration that the plan has added.
void stress_plan_remember(stress_plan *plan, const stress_entry *made,
                          kw_registration registration);

// The key that a kernel of this kind is registered for.
kw_key stress_entry_key(stress_entry_kind kind);

// What the registrations of an operator amount to.
stress_facts stress_model_facts(const stress_model *model, unsigned op);

bool stress_model_has(const stress_model *model, stress_entry_kind kind, unsigned op);

#endif // STRESS_SCENARIOS_STORM_PLAN_H
