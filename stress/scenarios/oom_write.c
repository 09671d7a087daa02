// The writers of the scenario oom: changes that may fail, and the proof that a failure is none.
//
// Layer:   stress
// Threads: each writer has its operators, its fallback key and its libraries.
// SPDX-License-Identifier: MIT

#include <stddef.h>
#include <stdio.h>

#include <keyway/transaction.h>

#include "driver/heap.h"
#include "scenarios/oom.h"
#include "scenarios/storm.h"
#include "shared/group.h"
#include "shared/history.h"
#include "shared/subject.h"

typedef struct writer {
    stress_worker *worker;
    unsigned first_op;
    kw_library *libraries[STRESS_STORM_LIBRARIES];
    stress_model now;
    stress_plan plan;
    stress_subject *fresh[STRESS_CHANGE_LIMIT]; // user data that no library owns yet
    unsigned fresh_count;
} writer;

static const char *name_of(const writer *me, unsigned op)
{
    return stress_the_oom.names[me->first_op + op];
}

// What there is, by calls ------------------------------------------------------------------------

static kw_keyset keys_of(const writer *me, stress_path path)
{
    kw_keyset cpu = kw_keyset_from_key(KW_KEY_CPU);
    return path == STRESS_PATH_FALLBACK
               ? kw_keyset_from_key(stress_storm_fallback_key(me->worker->index))
           : path == STRESS_PATH_AUTOGRAD ? kw_keyset_add(cpu, KW_KEY_AutogradCPU)
                                          : cpu;
}

static stress_answer answer_of(kw_status status)
{
    return status == KW_OK                                           ? STRESS_ANSWERED
           : status == KW_OPERATOR_REMOVED || status == KW_NOT_FOUND ? STRESS_REMOVED
           : status == KW_OPERATOR_UNDEFINED                         ? STRESS_UNDEFINED
           : status == KW_NO_KERNEL || status == KW_NO_KERNEL_FOR_KEY ||
                   status == KW_NO_TENSOR_ARGUMENTS
               ? STRESS_NO_KERNEL
               : STRESS_OTHER;
}

static stress_observation observe(const writer *me, unsigned op, stress_path path, bool is_boxed)
{
    if (path == STRESS_PATH_FIND) {
        const kw_operator *found = NULL;
        kw_status status = kw_operator_find_typed(stress_the_oom.dispatcher, name_of(me, op),
                                                  TYPED_SIGNATURE, &found, NULL);
        stress_count_add(STRESS_FIND);
        return (stress_observation){.path = path, .answer = answer_of(status)};
    }
    stress_oom_answer got = stress_oom_call(me->first_op + op, keys_of(me, path), is_boxed);
    return (stress_observation){.path = path,
                                .answer = answer_of(got.status),
                                .is_boxed = is_boxed,
                                .id = got.id,
                                .autograd = got.autograd};
}

// Every way to call every operator, against the model. `what` has just failed or succeeded.
static void check_model(const writer *me, const char *what)
{
    static const stress_path paths[] = {STRESS_PATH_CPU, STRESS_PATH_AUTOGRAD, STRESS_PATH_FALLBACK,
                                        STRESS_PATH_FIND};
    for (unsigned i = 0; i < STRESS_OOM_OPS_EACH * 8; i++) {
        unsigned op = i / 8;
        stress_facts facts = stress_model_facts(&me->now, op);
        stress_observation seen = observe(me, op, paths[i % 4], i % 8 < 4);
        if (!stress_facts_allow(&facts, &seen)) {
            stress_violation("answer",
                             "after %s `%s` (path %d) answers %d, cpu %llu autograd %llu; the "
                             "model has cpu %llu autograd %llu fallback %llu%s%s",
                             what, name_of(me, op), seen.path, seen.answer,
                             (unsigned long long)seen.id, (unsigned long long)seen.autograd,
                             (unsigned long long)facts.cpu, (unsigned long long)facts.autograd,
                             (unsigned long long)facts.fallback, facts.is_visible ? "" : " removed",
                             facts.is_defined ? "" : " undefined");
        }
    }
}

// Changes ----------------------------------------------------------------------------------------

static kw_kernel_descriptor describe(writer *me, const stress_entry *wanted)
{
    if (wanted->kind == STRESS_AUTOGRAD_FALLTHROUGH) {
        return KW_FALLTHROUGH();
    }
    kw_kernel_descriptor kernel =
        wanted->kind == STRESS_CPU        ? KW_UNBOXED(TYPED_SIGNATURE, stress_oom_cpu)
        : wanted->kind == STRESS_AUTOGRAD ? KW_UNBOXED(TYPED_SIGNATURE, stress_oom_autograd)
                                          : KW_BOXED(stress_oom_boxed);
    stress_subject *subject = stress_subject_create(wanted->id);
    me->fresh[me->fresh_count++] = subject;
    kernel.user_data = subject;
    kernel.destroy = stress_subject_destroy;
    return kernel;
}

static kw_status add(writer *me, kw_transaction *tx, const stress_entry *wanted,
                     kw_registration *out_registration, kw_error *err)
{
    kw_library *library = me->libraries[wanted->library];
    const char *name = name_of(me, wanted->op);
    if (wanted->kind == STRESS_DEFINITION) {
        char schema[96];
        (void)snprintf(schema, sizeof schema, "%.31s(Tensor x, int n) -> int", name);
        const kw_definition definition = KW_DEFINE(schema);
        return tx != NULL ? kw_transaction_define(tx, library, &definition, out_registration, err)
                          : kw_library_define(library, &definition, out_registration, err);
    }
    kw_kernel_descriptor kernel = describe(me, wanted);
    if (wanted->kind == STRESS_FALLBACK_KERNEL) {
        kw_key key = stress_storm_fallback_key(me->worker->index);
        return tx != NULL
                   ? kw_transaction_fallback(tx, library, key, &kernel, out_registration, err)
                   : kw_library_fallback(library, key, &kernel, out_registration, err);
    }
    kw_key key = stress_entry_key(wanted->kind);
    return tx != NULL ? kw_transaction_impl(tx, library, name, key, &kernel, out_registration, err)
                      : kw_library_impl(library, name, key, &kernel, out_registration, err);
}

static kw_status make_change(writer *me, kw_transaction *tx, const stress_change *wanted,
                             kw_error *err)
{
    const stress_entry *at = &wanted->entry;
    kw_library *library = me->libraries[wanted->library];
    switch (wanted->kind) {
    case STRESS_ADD: {
        kw_registration registration = 0;
        kw_status status = add(me, tx, at, &registration, err);
        stress_plan_remember(&me->plan, at, registration);
        return status;
    }
    case STRESS_REMOVE_ONE:
        library = me->libraries[at->library];
        return tx != NULL ? kw_transaction_remove(tx, library, at->registration, err)
                          : kw_library_remove(library, at->registration, err);
    case STRESS_CLOSE_LIBRARY:
        return tx != NULL ? kw_transaction_close(tx, library, err) : kw_library_close(library, err);
    }
    return KW_INTERNAL;
}

// A failure leaves user data to the caller. A kernel that ran with it would be a violation.
static void take_user_data_back(writer *me)
{
    for (unsigned i = 0; i < me->fresh_count; i++) {
        stress_subject_destroy(me->fresh[i]);
    }
    me->fresh_count = 0;
}

static bool commit_planned(writer *me)
{
    kw_error err = KW_ERROR_INIT;
    kw_transaction *tx = NULL;
    const kw_commit_options options = {.struct_size = sizeof options,
                                       .defer_reclaim = stress_chance(me->worker, 4)};
    if (!stress_oom_may_fail(kw_transaction_begin(stress_the_oom.dispatcher, &tx, &err),
                             "beginning a transaction", &err)) {
        return false;
    }
    for (unsigned i = 0; i < me->plan.change_count; i++) {
        if (!stress_oom_may_fail(make_change(me, tx, &me->plan.changes[i], &err),
                                 "staging a change", &err)) {
            kw_transaction_abort(tx);
            return false;
        }
    }
    return stress_oom_may_fail(kw_transaction_commit(tx, &options, NULL, &err), "a commit", &err);
}

static bool change(writer *me)
{
    kw_error err = KW_ERROR_INIT;
    if (me->plan.change_count == 1 && stress_chance(me->worker, 2)) {
        return stress_oom_may_fail(make_change(me, NULL, &me->plan.changes[0], &err), "a change",
                                   &err);
    }
    return commit_planned(me);
}

// Opening ----------------------------------------------------------------------------------------

static kw_library *open_library(void)
{
    const kw_library_options options = {
        .struct_size = sizeof options, .dispatcher = stress_the_oom.dispatcher, .name = "oom"};
    kw_library *library = NULL;
    kw_error err = KW_ERROR_INIT;
    if (!stress_oom_may_fail(kw_library_create(&options, &library, &err), "opening a library",
                             &err)) {
        stress_heap_hold();
        library = stress_library_open(stress_the_oom.dispatcher, "oom");
        stress_heap_go_on();
    }
    return library;
}

// A drain without memory for its pass frees nothing, and says that it is busy.
static void end_library(kw_library *library)
{
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_library_drain(library, 0, &err);
    if (status != KW_BUSY) {
        (void)stress_oom_may_fail(status, "a drain", &err);
    }
    stress_heap_hold();
    stress_library_end(library);
    stress_heap_go_on();
}

static void reopen_closed(writer *me)
{
    for (unsigned i = 0; i < STRESS_STORM_LIBRARIES; i++) {
        if (me->plan.is_closing[i]) {
            end_library(me->libraries[i]);
            me->libraries[i] = open_library();
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
    if (change(me)) {
        me->now = me->plan.after;
        reopen_closed(me);
        stress_count_add(STRESS_COMMIT);
        check_model(me, "a commit");
    } else {
        take_user_data_back(me);
        check_model(me, "a failure");
    }
}

void stress_oom_write(stress_worker *worker)
{
    writer me = {.worker = worker, .first_op = worker->index * STRESS_OOM_OPS_EACH};
    stress_heap_fail(STRESS_OOM_FAIL_ONE_IN, worker->random);
    for (unsigned i = 0; i < STRESS_STORM_LIBRARIES; i++) {
        me.libraries[i] = open_library();
    }
    while (stress_goes_on()) {
        step(&me);
        (void)stress_sample();
    }
    stress_heap_fail(0, 1);
    for (unsigned i = 0; i < STRESS_STORM_LIBRARIES; i++) {
        stress_library_end(me.libraries[i]);
    }
}
