// The storm's writers: each changes operators of its own at random and knows what they amount to.
//
// Layer:   stress
// Threads: each writer has its operators, its fallback key and its libraries.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>

#include <keyway/library.h>
#include <keyway/snapshot.h>

#include "storm.h"
#include "subject.h"

#define LIBRARIES 2
#define ENTRY_LIMIT 40
#define CHANGE_LIMIT 6

typedef enum entry_kind {
    DEFINITION,
    CPU,
    CPU_BOXED,
    AUTOGRAD,
    AUTOGRAD_FALLTHROUGH,
    FALLBACK,
    KIND_LIMIT
} entry_kind;

// One registration, as the writer models it.
typedef struct entry {
    entry_kind kind;
    unsigned op; // among the writer's own
    unsigned library;
    kw_registration registration;
    uint64_t id;
} entry;

// In the order of registration: the last one of a key covers the others.
typedef struct model {
    entry entries[ENTRY_LIMIT];
    unsigned count;
} model;

typedef enum change_kind {
    ADD,
    REMOVE,
    CLOSE
} change_kind;

typedef struct change {
    change_kind kind;
    entry entry;      // ADD, REMOVE
    unsigned library; // CLOSE
} change;

typedef struct writer {
    stress_worker *worker;
    unsigned first_op;
    kw_library *libraries[LIBRARIES];
    bool is_closing[LIBRARIES];
    model now;
    model planned;
    change changes[CHANGE_LIMIT];
    unsigned change_count;
    stress_facts facts[STRESS_STORM_OPS_EACH]; // as last entered
    bool is_entered[STRESS_STORM_OPS_EACH];
    stress_subject *fresh[CHANGE_LIMIT]; // user data that is not owned by the library yet
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

// The model --------------------------------------------------------------------------------------

static bool is_cpu(entry_kind kind)
{
    return kind == CPU || kind == CPU_BOXED;
}

static bool is_autograd(entry_kind kind)
{
    return kind == AUTOGRAD || kind == AUTOGRAD_FALLTHROUGH;
}

static stress_facts facts_of(const model *from, unsigned op)
{
    stress_facts facts = {0};
    for (unsigned i = 0; i < from->count; i++) {
        const entry *each = &from->entries[i];
        if (each->kind == FALLBACK) {
            facts.fallback = each->id;
        } else if (each->op == op) {
            facts.is_visible = true;
            facts.is_defined = facts.is_defined || each->kind == DEFINITION;
            facts.cpu = is_cpu(each->kind) ? each->id : facts.cpu;
            facts.autograd = is_autograd(each->kind) ? each->id : facts.autograd;
        }
    }
    if (!facts.is_visible) {
        facts.fallback = 0; // reaches registered operators only
    }
    return facts;
}

static bool has(const model *in, entry_kind kind, unsigned op)
{
    for (unsigned i = 0; i < in->count; i++) {
        if (in->entries[i].kind == kind && (kind == FALLBACK || in->entries[i].op == op)) {
            return true;
        }
    }
    return false;
}

static void drop(model *from, unsigned at)
{
    memmove(&from->entries[at], &from->entries[at + 1],
            (from->count - at - 1) * sizeof *from->entries);
    from->count--;
}

// Plans ------------------------------------------------------------------------------------------

static void plan_add(writer *me)
{
    entry made = {
        .kind = (entry_kind)stress_random(me->worker, KIND_LIMIT),
        .op = stress_random(me->worker, STRESS_STORM_OPS_EACH),
        .library = stress_random(me->worker, LIBRARIES),
    };
    bool is_single = made.kind == DEFINITION || made.kind == FALLBACK;
    if (me->is_closing[made.library] || (is_single && has(&me->planned, made.kind, made.op))) {
        return;
    }
    if (made.kind != DEFINITION && made.kind != AUTOGRAD_FALLTHROUGH) {
        made.id = stress_subject_fresh_id();
    }
    me->planned.entries[me->planned.count++] = made;
    me->changes[me->change_count++] = (change){.kind = ADD, .entry = made};
}

static void plan_remove(writer *me)
{
    unsigned at = stress_random(me->worker, me->planned.count);
    entry taken = me->planned.entries[at];
    if (taken.registration == 0 || me->is_closing[taken.library]) {
        return; // staged by this plan, so its number is not known
    }
    drop(&me->planned, at);
    me->changes[me->change_count++] = (change){.kind = REMOVE, .entry = taken};
}

static void plan_close(writer *me)
{
    unsigned library = stress_random(me->worker, LIBRARIES);
    if (me->is_closing[library]) {
        return;
    }
    me->is_closing[library] = true;
    for (unsigned i = me->planned.count; i > 0; i--) {
        if (me->planned.entries[i - 1].library == library) {
            drop(&me->planned, i - 1);
        }
    }
    me->changes[me->change_count++] = (change){.kind = CLOSE, .library = library};
}

static void plan(writer *me)
{
    me->planned = me->now;
    me->change_count = 0;
    me->fresh_count = 0;
    memset(me->is_closing, 0, sizeof me->is_closing);
    uint32_t wanted = 1 + stress_random(me->worker, CHANGE_LIMIT - 1);
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t dice = stress_random(me->worker, 16);
        if (dice == 0) {
            plan_close(me);
        } else if (me->planned.count > 0 &&
                   (dice < 6 || me->planned.count + CHANGE_LIMIT > ENTRY_LIMIT)) {
            plan_remove(me);
        } else if (me->planned.count < ENTRY_LIMIT) {
            plan_add(me);
        }
    }
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
        stress_facts facts = facts_of(&me->planned, op);
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

static kw_kernel_descriptor describe(writer *me, const entry *wanted)
{
    if (wanted->kind == AUTOGRAD_FALLTHROUGH) {
        stress_count_add(STRESS_FALLTHROUGH);
        return KW_FALLTHROUGH();
    }
    kw_kernel_descriptor kernel =
        wanted->kind == CPU        ? KW_UNBOXED(TYPED_SIGNATURE, stress_storm_cpu)
        : wanted->kind == AUTOGRAD ? KW_UNBOXED(TYPED_SIGNATURE, stress_storm_autograd)
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
static kw_status add(writer *me, kw_transaction *tx, const entry *wanted,
                     kw_registration *out_registration, kw_error *err)
{
    kw_library *library = me->libraries[wanted->library];
    const char *name = stress_the_storm.names[me->first_op + wanted->op];
    if (wanted->kind == DEFINITION) {
        return add_definition(tx, library, name, out_registration, err);
    }
    kw_kernel_descriptor kernel = describe(me, wanted);
    if (wanted->kind == FALLBACK) {
        kw_key key = stress_storm_fallback_key(me->worker->index);
        stress_count_add(STRESS_FALLBACK);
        return tx != NULL
                   ? kw_transaction_fallback(tx, library, key, &kernel, out_registration, err)
                   : kw_library_fallback(library, key, &kernel, out_registration, err);
    }
    kw_key key = is_cpu(wanted->kind) ? KW_KEY_CPU : KW_KEY_AutogradCPU;
    stress_count_add(STRESS_IMPL);
    return tx != NULL ? kw_transaction_impl(tx, library, name, key, &kernel, out_registration, err)
                      : kw_library_impl(library, name, key, &kernel, out_registration, err);
}

static void remember(writer *me, const entry *made, kw_registration registration)
{
    for (unsigned i = me->planned.count; i > 0; i--) {
        entry *each = &me->planned.entries[i - 1];
        if (each->registration == 0 && each->kind == made->kind && each->op == made->op &&
            each->id == made->id && each->library == made->library) {
            each->registration = registration;
            return;
        }
    }
}

static kw_status make_change(writer *me, kw_transaction *tx, const change *wanted, kw_error *err)
{
    const entry *at = &wanted->entry;
    if (wanted->kind == ADD) {
        kw_registration registration = 0;
        kw_status status = add(me, tx, at, &registration, err);
        remember(me, at, registration);
        return status;
    }
    if (wanted->kind == REMOVE) {
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
    for (unsigned i = 0; i < me->change_count; i++) {
        (void)stress_expect(make_change(me, tx, &me->changes[i], &err), "staging a change", &err);
    }
    return tx;
}

// A transaction with everything planned and one change too many: nothing of it may be seen.
static void commit_refused(writer *me)
{
    unsigned op = stress_random(me->worker, STRESS_STORM_OPS_EACH);
    unsigned library = me->is_closing[0] ? 1 : 0;
    if (!has(&me->planned, DEFINITION, op) || me->is_closing[library]) {
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
    if (stress_expect(make_change(me, NULL, &me->changes[0], &err), "a change", &err)) {
        settle(me, earliest, kw_version());
    }
}

static void reopen_closed(writer *me)
{
    for (unsigned i = 0; i < LIBRARIES; i++) {
        if (me->is_closing[i]) {
            stress_library_end(me->libraries[i]);
            me->libraries[i] = stress_library_open(stress_the_storm.dispatcher, "storm");
        }
    }
}

static void step(writer *me)
{
    plan(me);
    if (me->change_count == 0) {
        return;
    }
    if (stress_chance(me->worker, 16)) {
        commit_refused(me);
        return;
    }
    if (me->change_count == 1 && stress_chance(me->worker, 2)) {
        change_at_once(me);
    } else {
        commit_planned(me);
    }
    stress_count_add(STRESS_COMMIT);
    me->now = me->planned;
    reopen_closed(me);
}

// Plans that everything goes.
static void plan_end(writer *me)
{
    me->planned.count = 0;
    me->change_count = 0;
    for (unsigned i = 0; i < LIBRARIES; i++) {
        me->changes[me->change_count++] = (change){.kind = CLOSE, .library = i};
    }
}

void stress_storm_write(stress_worker *worker)
{
    writer me = {
        .worker = worker,
        .first_op = STRESS_STORM_GROUP_OPS + worker->index * STRESS_STORM_OPS_EACH,
    };
    for (unsigned i = 0; i < LIBRARIES; i++) {
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
    plan_end(&me);
    commit_planned(&me);
    for (unsigned i = 0; i < LIBRARIES; i++) {
        stress_library_end(me.libraries[i]);
    }
}
