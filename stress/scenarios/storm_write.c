// The storm's writers: each changes operators of its own at random and knows what they amount to.
//
// Layer:   stress
// Threads: each writer has its operators, its fallback key and its libraries.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include <keyway/library.h>
#include <keyway/snapshot.h>

#include "scenarios/storm.h"
#include "scenarios/storm_plan.h"
#include "shared/subject.h"

typedef struct writer {
    stress_worker *worker;
    unsigned first_op;
    kw_library *libraries[STRESS_STORM_LIBRARIES];
    stress_model now;
    stress_plan plan;
    stress_facts facts[STRESS_STORM_OPS_EACH]; // as last entered
    bool is_entered[STRESS_STORM_OPS_EACH];
    stress_subject *fresh[STRESS_CHANGE_LIMIT]; // user data that no library owns yet
    unsigned fresh_count;
} writer;

kw_key stress_storm_fallback_key(unsigned index)
{
    static const kw_key keys[STRESS_STORM_WRITERS] = {KW_KEY_CUDA, KW_KEY_XPU};
    return keys[index];
}

static stress_history *history_of(const writer *me, unsigned op)
{
    return &stress_the_storm.histories[me->first_op + op];
}

// Histories --------------------------------------------------------------------------------------

static bool is_same(const stress_facts *a, const stress_facts *b)
{
    return a->cpu == b->cpu && a->autograd == b->autograd && a->fallback == b->fallback &&
           a->is_visible == b->is_visible && a->is_defined == b->is_defined;
}

// Enters what is about to change; the earliest version it can have is in the history's state.
static uint64_t enter(writer *me)
{
    uint64_t earliest = kw_version() + 1;
    for (unsigned op = 0; op < STRESS_STORM_OPS_EACH; op++) {
        stress_facts facts = stress_model_facts(&me->plan.after, op);
        me->is_entered[op] = !is_same(&facts, &me->facts[op]);
        if (me->is_entered[op]) {
            stress_history_enter(history_of(me, op), &facts);
            me->facts[op] = facts;
        }
    }
    return earliest;
}

static void settle(writer *me, uint64_t earliest, uint64_t latest)
{
    for (unsigned op = 0; op < STRESS_STORM_OPS_EACH; op++) {
        if (me->is_entered[op]) {
            stress_history_settle(history_of(me, op), earliest, latest);
        }
    }
}

// Changes ----------------------------------------------------------------------------------------

static kw_kernel_descriptor describe(writer *me, const stress_entry *wanted)
{
    if (wanted->kind == STRESS_AUTOGRAD_FALLTHROUGH) {
        stress_count_add(STRESS_FALLTHROUGH);
        return KW_FALLTHROUGH();
    }
    kw_kernel_descriptor kernel =
        wanted->kind == STRESS_CPU        ? KW_UNBOXED(TYPED_SIGNATURE, stress_storm_cpu)
        : wanted->kind == STRESS_AUTOGRAD ? KW_UNBOXED(TYPED_SIGNATURE, stress_storm_autograd)
                                          : KW_BOXED(stress_storm_cpu_boxed);
    stress_subject *subject = stress_subject_create(wanted->id);
    me->fresh[me->fresh_count++] = subject;
    kernel.user_data = subject;
    kernel.destroy = stress_subject_destroy;
    return kernel;
}

static void name_schema(const char *name, char *buffer, size_t size)
{
    (void)snprintf(buffer, size, "%s(Tensor x, int n) -> int", name);
}

static kw_status add_definition(kw_transaction *tx, kw_library *library, const char *name,
                                kw_registration *out_registration, kw_error *err)
{
    char schema[64];
    name_schema(name, schema, sizeof schema);
    const kw_definition definition = KW_DEFINE(schema);
    stress_count_add(STRESS_DEFINE);
    return tx != NULL ? kw_transaction_define(tx, library, &definition, out_registration, err)
                      : kw_library_define(library, &definition, out_registration, err);
}

// Stages an addition, or makes it at once if there is no transaction.
static kw_status add(writer *me, kw_transaction *tx, const stress_entry *wanted,
                     kw_registration *out_registration, kw_error *err)
{
    kw_library *library = me->libraries[wanted->library];
    const char *name = stress_the_storm.names[me->first_op + wanted->op];
    if (wanted->kind == STRESS_DEFINITION) {
        return add_definition(tx, library, name, out_registration, err);
    }
    kw_kernel_descriptor kernel = describe(me, wanted);
    if (wanted->kind == STRESS_FALLBACK_KERNEL) {
        kw_key key = stress_storm_fallback_key(me->worker->index);
        stress_count_add(STRESS_FALLBACK);
        return tx != NULL
                   ? kw_transaction_fallback(tx, library, key, &kernel, out_registration, err)
                   : kw_library_fallback(library, key, &kernel, out_registration, err);
    }
    kw_key key = stress_entry_key(wanted->kind);
    stress_count_add(STRESS_IMPL);
    return tx != NULL ? kw_transaction_impl(tx, library, name, key, &kernel, out_registration, err)
                      : kw_library_impl(library, name, key, &kernel, out_registration, err);
}

static kw_status make_change(writer *me, kw_transaction *tx, const stress_change *wanted,
                             kw_error *err)
{
    const stress_entry *at = &wanted->entry;
    if (wanted->kind == STRESS_ADD) {
        kw_registration registration = 0;
        kw_status status = add(me, tx, at, &registration, err);
        stress_plan_remember(&me->plan, at, registration);
        return status;
    }
    if (wanted->kind == STRESS_REMOVE_ONE) {
        kw_library *library = me->libraries[at->library];
        stress_count_add(STRESS_REMOVE);
        return tx != NULL ? kw_transaction_remove(tx, library, at->registration, err)
                          : kw_library_remove(library, at->registration, err);
    }
    kw_library *library = me->libraries[wanted->library];
    return tx != NULL ? kw_transaction_close(tx, library, err) : kw_library_close(library, err);
}

static kw_transaction *stage(writer *me)
{
    kw_error err = KW_ERROR_INIT;
    kw_transaction *tx = NULL;
    if (!stress_expect(kw_transaction_begin(stress_the_storm.dispatcher, &tx, &err),
                       "beginning a transaction", &err)) {
        stress_give_up("no transaction can be begun");
    }
    for (unsigned i = 0; i < me->plan.change_count; i++) {
        (void)stress_expect(make_change(me, tx, &me->plan.changes[i], &err), "staging a change",
                            &err);
    }
    return tx;
}

// A transaction with everything planned and one change too many: nothing of it may be seen.
static void commit_refused(writer *me)
{
    unsigned op = stress_random(me->worker, STRESS_STORM_OPS_EACH);
    unsigned library = me->plan.is_closing[0] ? 1 : 0;
    if (!stress_model_has(&me->plan.after, STRESS_DEFINITION, op) || me->plan.is_closing[library]) {
        return;
    }
    kw_error err = KW_ERROR_INIT;
    kw_transaction *tx = stage(me);
    (void)stress_expect(add_definition(tx, me->libraries[library],
                                       stress_the_storm.names[me->first_op + op], NULL, &err),
                        "staging a second definition", &err);
    kw_status status = kw_transaction_commit(tx, NULL, NULL, &err);
    if (status != KW_ALREADY_DEFINED) {
        stress_violation("status", "a second definition answers %s", kw_status_name(status));
    }
    for (unsigned i = 0; i < me->fresh_count; i++) {
        stress_subject_destroy(me->fresh[i]); // a refused commit leaves user data to the caller
    }
    me->fresh_count = 0;
    stress_count_add(STRESS_REFUSED);
}

static void commit_planned(writer *me)
{
    kw_error err = KW_ERROR_INIT;
    bool defer = stress_chance(me->worker, 4);
    const kw_commit_options options = {.struct_size = sizeof options, .defer_reclaim = defer};
    kw_transaction *tx = stage(me);
    (void)enter(me);
    uint64_t version = 0;
    if (stress_expect(kw_transaction_commit(tx, &options, &version, &err), "a commit", &err)) {
        settle(me, version, version);
    }
    if (defer) {
        stress_count_add(STRESS_DEFERRED);
    }
}

static void change_at_once(writer *me)
{
    kw_error err = KW_ERROR_INIT;
    uint64_t earliest = enter(me);
    if (stress_expect(make_change(me, NULL, &me->plan.changes[0], &err), "a change", &err)) {
        settle(me, earliest, kw_version());
    }
}

static void reopen_closed(writer *me)
{
    for (unsigned i = 0; i < STRESS_STORM_LIBRARIES; i++) {
        if (me->plan.is_closing[i]) {
            stress_library_end(me->libraries[i]);
            me->libraries[i] = stress_library_open(stress_the_storm.dispatcher, "storm");
        }
    }
}

static void step(writer *me)
{
    stress_plan_make(&me->plan, &me->now, me->worker);
    me->fresh_count = 0;
    if (me->plan.change_count == 0) {
        return;
    }
    if (stress_chance(me->worker, 16)) {
        commit_refused(me);
        return;
    }
    if (me->plan.change_count == 1 && stress_chance(me->worker, 2)) {
        change_at_once(me);
    } else {
        commit_planned(me);
    }
    stress_count_add(STRESS_COMMIT);
    me->now = me->plan.after;
    reopen_closed(me);
}

void stress_storm_write(stress_worker *worker)
{
    writer me = {
        .worker = worker,
        .first_op = STRESS_STORM_GROUP_OPS + worker->index * STRESS_STORM_OPS_EACH,
    };
    for (unsigned i = 0; i < STRESS_STORM_LIBRARIES; i++) {
        me.libraries[i] = stress_library_open(stress_the_storm.dispatcher, "storm");
    }
    kw_error err = KW_ERROR_INIT;
    while (stress_goes_on()) {
        step(&me);
        (void)stress_sample();
        if (stress_chance(worker, 64)) {
            (void)stress_expect(kw_reclaim(), "reclaiming", &err);
            stress_count_add(STRESS_RECLAIM);
        }
    }
    stress_plan_end(&me.plan);
    me.fresh_count = 0;
    commit_planned(&me);
    for (unsigned i = 0; i < STRESS_STORM_LIBRARIES; i++) {
        stress_library_end(me.libraries[i]);
    }
}
