// Plans: what a writer of the storm is about to change, and what its registrations amount to.
//
// Layer:   stress
// Threads: a plan belongs to its writer.
// SPDX-License-Identifier: MIT

#include "scenarios/storm_plan.h"

#include <string.h>

#include "scenarios/storm.h"
#include "shared/subject.h"

// The model --------------------------------------------------------------------------------------

static bool is_cpu(stress_entry_kind kind)
{
    return kind == STRESS_CPU || kind == STRESS_CPU_BOXED;
}

static bool is_autograd(stress_entry_kind kind)
{
    return kind == STRESS_AUTOGRAD || kind == STRESS_AUTOGRAD_FALLTHROUGH;
}

kw_key stress_entry_key(stress_entry_kind kind)
{
    return is_cpu(kind) ? KW_KEY_CPU : KW_KEY_AutogradCPU;
}

stress_facts stress_model_facts(const stress_model *model, unsigned op)
{
    stress_facts facts = {0};
    for (unsigned i = 0; i < model->count; i++) {
        const stress_entry *each = &model->entries[i];
        if (each->kind == STRESS_FALLBACK_KERNEL) {
            facts.fallback = each->id;
        } else if (each->op == op) {
            facts.is_visible = true;
            facts.is_defined = facts.is_defined || each->kind == STRESS_DEFINITION;
            facts.cpu = is_cpu(each->kind) ? each->id : facts.cpu;
            facts.autograd = is_autograd(each->kind) ? each->id : facts.autograd;
        }
    }
    if (!facts.is_visible) {
        facts.fallback = 0; // reaches registered operators only
    }
    return facts;
}

bool stress_model_has(const stress_model *model, stress_entry_kind kind, unsigned op)
{
    for (unsigned i = 0; i < model->count; i++) {
        if (model->entries[i].kind == kind &&
            (kind == STRESS_FALLBACK_KERNEL || model->entries[i].op == op)) {
            return true;
        }
    }
    return false;
}

static void drop(stress_model *model, unsigned at)
{
    memmove(&model->entries[at], &model->entries[at + 1],
            (model->count - at - 1) * sizeof *model->entries);
    model->count--;
}

// Plans ------------------------------------------------------------------------------------------

static void plan_add(stress_plan *plan, stress_worker *worker)
{
    stress_entry made = {
        .kind = (stress_entry_kind)stress_random(worker, STRESS_KIND_LIMIT),
        .op = stress_random(worker, STRESS_STORM_OPS_EACH),
        .library = stress_random(worker, STRESS_STORM_LIBRARIES),
    };
    bool is_single = made.kind == STRESS_DEFINITION || made.kind == STRESS_FALLBACK_KERNEL;
    if (plan->is_closing[made.library] ||
        (is_single && stress_model_has(&plan->after, made.kind, made.op))) {
        return;
    }
    if (made.kind != STRESS_DEFINITION && made.kind != STRESS_AUTOGRAD_FALLTHROUGH) {
        made.id = stress_subject_fresh_id();
    }
    plan->after.entries[plan->after.count++] = made;
    plan->changes[plan->change_count++] = (stress_change){.kind = STRESS_ADD, .entry = made};
}

static void plan_remove(stress_plan *plan, stress_worker *worker)
{
    unsigned at = stress_random(worker, plan->after.count);
    stress_entry taken = plan->after.entries[at];
    if (taken.registration == 0 || plan->is_closing[taken.library]) {
        return; // staged by this plan, so its number is not known
    }
    drop(&plan->after, at);
    plan->changes[plan->change_count++] =
        (stress_change){.kind = STRESS_REMOVE_ONE, .entry = taken};
}

static void plan_close(stress_plan *plan, stress_worker *worker)
{
    unsigned library = stress_random(worker, STRESS_STORM_LIBRARIES);
    if (plan->is_closing[library]) {
        return;
    }
    plan->is_closing[library] = true;
    for (unsigned i = plan->after.count; i > 0; i--) {
        if (plan->after.entries[i - 1].library == library) {
            drop(&plan->after, i - 1);
        }
    }
    plan->changes[plan->change_count++] =
        (stress_change){.kind = STRESS_CLOSE_LIBRARY, .library = library};
}

void stress_plan_make(stress_plan *plan, const stress_model *now, stress_worker *worker)
{
    plan->after = *now;
    plan->change_count = 0;
    memset(plan->is_closing, 0, sizeof plan->is_closing);
    uint32_t wanted = 1 + stress_random(worker, STRESS_CHANGE_LIMIT - 1);
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t dice = stress_random(worker, 16);
        if (dice == 0) {
            plan_close(plan, worker);
        } else if (plan->after.count > 0 &&
                   (dice < 6 || plan->after.count + STRESS_CHANGE_LIMIT > STRESS_ENTRY_LIMIT)) {
            plan_remove(plan, worker);
        } else if (plan->after.count < STRESS_ENTRY_LIMIT) {
            plan_add(plan, worker);
        }
    }
}

void stress_plan_end(stress_plan *plan)
{
    plan->after.count = 0;
    plan->change_count = 0;
    for (unsigned i = 0; i < STRESS_STORM_LIBRARIES; i++) {
        plan->changes[plan->change_count++] =
            (stress_change){.kind = STRESS_CLOSE_LIBRARY, .library = i};
    }
}

// Equal ones are numbered in the order in which they were planned, which is that of the changes.
void stress_plan_remember(stress_plan *plan, const stress_entry *made, kw_registration registration)
{
    for (unsigned i = 0; i < plan->after.count; i++) {
        stress_entry *each = &plan->after.entries[i];
        if (each->registration == 0 && each->kind == made->kind && each->op == made->op &&
            each->id == made->id && each->library == made->library) {
            each->registration = registration;
            return;
        }
    }
}
