// Torture's readers: calls that measure the age of what they run, and their kernels.
//
// Layer:   stress
// Threads: readers, and whoever is inside a kernel.
// SPDX-License-Identifier: MIT

#include <sched.h>
#include <stddef.h>
#include <stdio.h>

#include <keyway/snapshot.h>

#include "scenarios/torture.h"
#include "shared/subject.h"

#define NESTING_LIMIT 24 // deeper than the announcements that a thread's block holds
#define STAY_LIMIT 400   // looks at the clock of generations, each after giving way
#define DEPTH_OF_BLOCK 19

typedef enum path {
    PATH_CPU,
    PATH_AUTOGRAD,
    PATH_FALLBACK,
    PATH_LIMIT
} path;

// What a call is made with, and what its kernels leave in it.
typedef struct argument {
    tensor x;       // first: the kernels get a pointer to it
    unsigned group; // whose generation answers
    uint64_t pinned;
    stress_span span;
    uint64_t generation; // of the kernel that ran first; 0: none has
    bool has_layer;      // the autograd kernel ran
} argument;

typedef struct reader {
    stress_worker *worker;
    kw_snapshot snapshot;                  // the outermost
    uint64_t pinned;                       // its version; 0: none is open
    uint64_t shown[STRESS_TORTURE_GROUPS]; // the generations that it shows; 0: not looked yet
    uint64_t seen[STRESS_TORTURE_GROUPS];  // by this thread
    uint64_t births[STRESS_TORTURE_GROUPS][STRESS_TORTURE_OPS]; // of the newest tables seen
    unsigned nesting;
    bool closes_inside; // the next kernel closes the snapshot
} reader;

static _Thread_local reader me;

// Checks -----------------------------------------------------------------------------------------

static void count_age_at_begin(uint64_t age)
{
    stress_count_add(age == 0 ? STRESS_AGE_BEGIN_0 : STRESS_AGE_BEGIN_1);
}

static void count_age_at_end(uint64_t age)
{
    stress_count_add(age == 0    ? STRESS_AGE_END_0
                     : age == 1  ? STRESS_AGE_END_1
                     : age < 10  ? STRESS_AGE_END_2
                     : age < 100 ? STRESS_AGE_END_10
                                 : STRESS_AGE_END_100);
}

// Under a snapshot all operators show one generation.
static void check_shown(const argument *given, uint64_t generation)
{
    uint64_t *shown = &me.shown[given->group];
    if (given->pinned != me.pinned) {
        return; // the snapshot was closed inside a call that was made under it
    }
    if (*shown == 0) {
        *shown = generation;
    }
    if (*shown != generation) {
        stress_violation("transaction",
                         "a snapshot of version %llu shows generations %llu and %llu",
                         (unsigned long long)given->pinned, (unsigned long long)*shown,
                         (unsigned long long)generation);
    }
}

// The first kernel of a call has begun.
static void check_age(const argument *given, uint64_t generation)
{
    stress_era *era = &stress_the_torture.eras[given->group];
    if (given->pinned != 0) {
        check_shown(given, generation);
        return;
    }
    if (generation < me.seen[given->group]) {
        stress_violation("version", "generation %llu is called after %llu",
                         (unsigned long long)generation, (unsigned long long)me.seen[given->group]);
    }
    me.seen[given->group] = generation;
    if (!stress_era_check(era, &given->span, generation)) {
        stress_violation("age",
                         "a call runs generation %llu; %llu was the least when it began, and "
                         "%llu has begun",
                         (unsigned long long)generation, (unsigned long long)given->span.least,
                         (unsigned long long)stress_era_begun(era));
    }
    count_age_at_begin(stress_age(given->span.begun, generation));
}

static void check_entry(argument *given, uint64_t generation)
{
    if (given->generation == 0) {
        given->generation = generation;
        check_age(given, generation);
    } else if (given->generation != generation && me.nesting <= DEPTH_OF_BLOCK) {
        stress_violation("table", "one call runs kernels of generations %llu and %llu",
                         (unsigned long long)given->generation, (unsigned long long)generation);
    }
}

static void check_answer(unsigned group, path way, const argument *given, kw_status status,
                         uint64_t generation)
{
    const stress_group *of = &stress_the_torture.groups[group];
    if (status != KW_OK) {
        stress_violation("answer", "an operator that always has a kernel answers %s: %s",
                         kw_status_name(status), kw_call_error());
        return;
    }
    bool wants_layer = way == PATH_AUTOGRAD && !stress_group_falls_through(of, given->generation);
    if (given->has_layer != wants_layer) {
        stress_violation("table", "generation %llu runs %s its layer",
                         (unsigned long long)given->generation, wants_layer ? "without" : "with");
    }
    if (generation != given->generation && me.nesting < DEPTH_OF_BLOCK) {
        stress_violation("table", "generation %llu is called and %llu answers",
                         (unsigned long long)given->generation, (unsigned long long)generation);
    }
    if (given->pinned == 0) {
        const stress_era *era = &stress_the_torture.eras[given->group];
        count_age_at_end(stress_age(stress_era_begun(era), generation));
    }
}

// The birth of the table that a call has announced; its canary is its operator.
static uint64_t check_table(const kw_operator *op, const kw_table *table, unsigned group,
                            unsigned which, uint64_t pinned)
{
    uint64_t birth = table->block.version;
    uint64_t limit = pinned != 0 ? pinned : kw_version();
    if (table->block.owner != (const void *)op) {
        stress_violation("poison", "a call is inside a table of another operator, version %llu",
                         (unsigned long long)birth);
    }
    if (birth > limit) {
        stress_violation("version", "a call is inside a table of version %llu, of at most %llu",
                         (unsigned long long)birth, (unsigned long long)limit);
    }
    uint64_t *newest = &me.births[group][which];
    if (pinned == 0 && birth < *newest) {
        stress_violation("version", "an operator goes from a table of version %llu back to %llu",
                         (unsigned long long)*newest, (unsigned long long)birth);
    }
    if (pinned == 0) {
        *newest = birth;
    }
    return birth;
}

// Calls ------------------------------------------------------------------------------------------

static kw_keyset keys_of(path way, const stress_group *owner)
{
    kw_keyset cpu = kw_keyset_from_key(KW_KEY_CPU);
    return way == PATH_FALLBACK   ? kw_keyset_from_key(owner->fallback_key)
           : way == PATH_AUTOGRAD ? kw_keyset_add(cpu, KW_KEY_AutogradCPU)
                                  : cpu;
}

// typed_call(), with a look at the table before and after the kernel.
static kw_status call_looking(unsigned group, unsigned which, argument *given, int64_t n,
                              int64_t *out_0)
{
    const kw_operator *op = stress_the_torture.groups[group].ops[which];
    kw_call call = kw_call_begin(op);
    if (call.table == NULL) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    uint64_t birth = check_table(op, call.table, group, which, given->pinned);
    kw_keyset keys;
    const kw_entry *entry = kw_call_select(call, given->x.keys, &keys);
    kw_status status = ((typed_function)entry->function)(entry->kernel, keys, given, n, out_0);
    if (call.table->block.version != birth || call.table->block.owner != (const void *)op) {
        stress_violation("poison", "a table of version %llu changes under the call inside it",
                         (unsigned long long)birth);
    }
    kw_call_end(call, depth);
    return status == KW_OK ? KW_OK : kw_call_failed(op, status);
}

static void call_one(unsigned group, unsigned which, path way, int64_t n)
{
    stress_worker *worker = me.worker;
    // A fallback serves the operators of both groups, with the generation of its own.
    unsigned answering =
        way == PATH_FALLBACK ? stress_random(worker, STRESS_TORTURE_GROUPS) : group;
    argument given = {
        .x = typed_tensor(keys_of(way, &stress_the_torture.groups[answering])),
        .group = answering,
        .pinned = me.pinned,
        .span = stress_era_enter(&stress_the_torture.eras[answering]),
    };
    bool is_boxed = stress_chance(worker, 8);
    const kw_operator *op = stress_the_torture.groups[group].ops[which];
    int64_t id = 0;
    me.nesting++;
    kw_status status = is_boxed ? typed_call_boxed(op, &given.x, n, &id)
                                : call_looking(group, which, &given, n, &id);
    me.nesting--;
    stress_count_add(is_boxed ? STRESS_BOXED_CALL : STRESS_CALL);
    check_answer(answering, way, &given, status, stress_generation_of((uint64_t)id));
}

static void call_any(int64_t n)
{
    stress_worker *worker = me.worker;
    uint32_t dice = stress_random(worker, 8);
    path way = dice < 3 ? PATH_CPU : dice < 7 ? PATH_AUTOGRAD : PATH_FALLBACK;
    call_one(stress_random(worker, STRESS_TORTURE_GROUPS),
             stress_random(worker, STRESS_TORTURE_OPS), way, n);
}

// Kernels ----------------------------------------------------------------------------------------

// Until some generations have passed, or for a while.
static void stay(unsigned group)
{
    const stress_era *era = &stress_the_torture.eras[group];
    uint64_t wanted = stress_era_begun(era) + 1 + stress_random(me.worker, 4);
    for (unsigned i = 0; i < STAY_LIMIT && stress_era_begun(era) < wanted && stress_goes_on();
         i++) {
        (void)sched_yield();
    }
    stress_count_add(STRESS_PARKED_CALL);
}

static void close_snapshot(void)
{
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_snapshot_close(&me.snapshot), "closing a snapshot", &err);
    me.pinned = 0;
}

static void be_inside(const argument *given, int64_t n)
{
    if (me.closes_inside) {
        me.closes_inside = false;
        close_snapshot();
        stress_count_add(STRESS_CLOSED_INSIDE);
        (void)sched_yield();
    }
    if (n > 0) {
        stress_count_add(STRESS_NESTED_CALL);
        call_any(n - 1);
    }
    if (stress_chance(me.worker, 256)) {
        stay(given->group);
    }
}

static uint64_t run(const kw_kernel *self, argument *given, int64_t n)
{
    uint64_t id = stress_subject_id(self);
    check_entry(given, stress_generation_of(id));
    be_inside(given, n);
    if (stress_subject_id(self) != id) {
        stress_violation("poison", "a kernel changes while it runs");
    }
    return id;
}

kw_status stress_torture_cpu(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                             int64_t *out_0)
{
    (void)keys;
    *out_0 = (int64_t)run(self, x, n);
    return KW_OK;
}

kw_status stress_torture_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                               kw_frame *frame)
{
    (void)op;
    (void)keys;
    int64_t n = frame->args[1].as.as_int;
    frame->returns[0] = kw_value_int((int64_t)run(self, frame->args[0].as.as_tensor, n));
    return KW_OK;
}

kw_status stress_torture_autograd(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                  int64_t *out_0)
{
    argument *given = x;
    uint64_t id = stress_subject_id(self);
    check_entry(given, stress_generation_of(id));
    given->has_layer = true;
    stress_count_add(STRESS_REDISPATCH);
    kw_status status =
        typed_redispatch(self->op, kw_keyset_remove(keys, KW_KEY_AutogradCPU), x, n, out_0);
    if (stress_subject_id(self) != id) {
        stress_violation("poison", "a layer changes while it runs");
    }
    return status;
}

// Readers ----------------------------------------------------------------------------------------

static void call_all(void)
{
    for (unsigned group = 0; group < STRESS_TORTURE_GROUPS; group++) {
        for (unsigned which = 0; which < STRESS_TORTURE_OPS; which++) {
            call_one(group, which, (path)stress_random(me.worker, PATH_LIMIT), 0);
        }
    }
}

// A snapshot lasts for some generations now and then, so that readers walk past newer tables.
static void read_under_snapshot(void)
{
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_snapshot_open(&me.snapshot), "opening a snapshot", &err);
    me.pinned = me.snapshot.version;
    for (unsigned i = 0; i < STRESS_TORTURE_GROUPS; i++) {
        me.shown[i] = 0;
    }
    stress_count_add(STRESS_SNAPSHOT);
    call_all();
    if (stress_chance(me.worker, 8)) {
        kw_snapshot inner;
        stay(stress_random(me.worker, STRESS_TORTURE_GROUPS));
        (void)stress_expect(kw_snapshot_open(&inner), "opening a snapshot", &err);
        call_all();
        (void)stress_expect(kw_snapshot_close(&inner), "closing a snapshot", &err);
    }
    if (stress_chance(me.worker, 4)) {
        me.closes_inside = true;
        call_any(0);
    } else {
        call_all();
        close_snapshot();
    }
}

static void find_one(void)
{
    const stress_group *group =
        &stress_the_torture.groups[stress_random(me.worker, STRESS_TORTURE_GROUPS)];
    unsigned which = stress_random(me.worker, STRESS_TORTURE_OPS);
    char name[64];
    (void)snprintf(name, sizeof name, "%s::op%u", group->ns, which);
    const kw_operator *op = NULL;
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_operator_find_typed(group->dispatcher, name, TYPED_SIGNATURE, &op, &err),
                        "finding an operator", &err);
    if (op != group->ops[which] || !kw_operator_has_computed_kernel(op, KW_KEY_CPU)) {
        stress_violation("answer", "`%s` is another operator, or has no kernel", name);
    }
    stress_count_add(STRESS_FIND);
}

void stress_torture_read(stress_worker *worker)
{
    me = (reader){.worker = worker};
    while (stress_goes_on()) {
        uint32_t dice = stress_random(worker, 64);
        if (dice == 0) {
            find_one();
        } else if (dice == 1) {
            read_under_snapshot();
        } else {
            call_any(stress_chance(worker, 64)  ? NESTING_LIMIT
                     : stress_chance(worker, 4) ? 1 + stress_random(worker, 3)
                                                : 0);
        }
    }
}
