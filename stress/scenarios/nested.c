// Nested: kernels that do what a host does, inside calls inside calls.
//
// Layer:   stress
// Threads: some nest, one replaces what they call.
// SPDX-License-Identifier: MIT
//
// It imitates kernels written as compositions of others, plugins that load plugins, and recursion
// that has gone wrong. Kernels call other operators and themselves, a few levels deep or deeper
// than the pages of announcements, redispatch, open snapshots, set guards, register, replace and
// close libraries, also the one that they are of, drain, and observe. After each of it the thread
// is inside the same calls as before, with the same pin and the same local sets.

#include "scenarios/nested.h"

#include <stdatomic.h>
#include <stddef.h>

#include <keyway/snapshot.h>

#include "driver/scenario.h"
#include "shared/scene.h"
#include "shared/state.h"

#define OPERATORS 4
#define BUDGET 60
#define DEEP 45                  // beyond the announcements of a block
#define VERY_DEEP (19 + 511 + 9) // and of the page after it
#define VERY_DEEP_LIMIT 2

_Thread_local stress_nester stress_nested_me;
stress_group stress_nested_group;
static stress_era era;
static atomic_uint very_deep_count; // threads that are

// What kernels do --------------------------------------------------------------------------------

static void go_on(stress_probe *probe, const kw_kernel *self, int64_t n)
{
    (void)probe;
    (void)self;
    stress_nested_act(n);
}

static void call_group(int64_t n)
{
    stress_worker *worker = stress_nested_me.worker;
    stress_probe probe = {.inside = go_on};
    if (n > 0) {
        stress_count_add(STRESS_NESTED_CALL);
    }
    (void)stress_probe_call(&probe, &stress_nested_group, stress_random(worker, OPERATORS),
                            stress_random(worker, STRESS_WAY_LIMIT), n);
}

static void open_snapshot(int64_t n)
{
    stress_nester *me = &stress_nested_me;
    kw_error err = KW_ERROR_INIT;
    kw_snapshot snapshot;
    uint64_t id = stress_own_id();
    (void)stress_expect(kw_snapshot_open(&snapshot), "opening a snapshot inside a call", &err);
    me->snapshots++;
    me->pinned_id = id;
    uint64_t one = stress_probe_once(&stress_nested_group, 0, STRESS_WAY_LAYERED);
    stress_nested_act(n);
    uint64_t other = stress_probe_once(&stress_nested_group, OPERATORS - 1, STRESS_WAY_BOXED);
    if (one != other) {
        stress_violation("transaction", "a snapshot shows generations %llu and %llu",
                         (unsigned long long)one, (unsigned long long)other);
    }
    (void)stress_expect(kw_snapshot_close(&snapshot), "closing a snapshot inside a call", &err);
    me->snapshots--;
    stress_count_add(STRESS_SNAPSHOT);
}

// Tracer falls through, so that calls under the guard answer as before.
static void set_guard(int64_t n)
{
    kw_error err = KW_ERROR_INIT;
    kw_local_guard guard;
    kw_keyset tracer = kw_keyset_from_key(KW_KEY_Tracer);
    bool includes = stress_chance(stress_nested_me.worker, 2);
    (void)stress_expect(includes ? kw_local_include(tracer, &guard)
                                 : kw_local_exclude(tracer, &guard),
                        "a guard inside a call", &err);
    stress_nested_act(n);
    bool is_set =
        includes ? kw_local_is_included(KW_KEY_Tracer) : kw_local_is_excluded(KW_KEY_Tracer);
    if (!is_set) {
        stress_violation("state", "a guard does not last to its end");
    }
    kw_local_restore(&guard);
}

typedef struct action {
    const char *text;
    void (*run)(int64_t n);
} action;

static void cover(int64_t n)
{
    (void)n;
    stress_own_cover();
}

static void uncover(int64_t n)
{
    (void)n;
    stress_own_uncover();
}

static void replace(int64_t n)
{
    (void)n;
    stress_own_replace();
}

static void observe(int64_t n)
{
    (void)n;
    stress_own_observe();
}

static void drain(int64_t n)
{
    (void)n;
    stress_own_drain(false);
}

static const action actions[] = {
    {"a call", call_group},
    {"a call of the own operator", stress_own_call},
    {"a snapshot", open_snapshot},
    {"a guard", set_guard},
    {"a registration", cover},
    {"a close", uncover},
    {"a replacement", replace},
    {"an observer", observe},
    {"a drain", drain},
    {"another call", call_group},
    {"one more call", call_group},
    {"one more call of the own operator", stress_own_call},
};
#define ACTION_COUNT (sizeof actions / sizeof *actions)

static void do_one(const action *wanted, int64_t n)
{
    const stress_state_of_thread before = stress_state_look();
    const kw_operator *op = kw_call_operator();
    wanted->run(n);
    stress_state_check(&before, wanted->text);
    if (kw_call_operator() != op) {
        stress_violation("state", "%s leaves the thread inside another operator", wanted->text);
    }
}

void stress_nested_act(int64_t n)
{
    stress_nester *me = &stress_nested_me;
    if (n > DEEP || (n > 0 && me->budget == 0)) { // straight down
        do_one(&actions[0], n > DEEP ? n - 1 : 0);
        return;
    }
    uint32_t count = n > 0 ? 1 + stress_random(me->worker, 3) : stress_random(me->worker, 2);
    for (uint32_t i = 0; i < count && me->budget > 0; i++) {
        me->budget--;
        do_one(&actions[stress_random(me->worker, ACTION_COUNT)], n > 0 ? n - 1 : 0);
    }
}

// Threads ----------------------------------------------------------------------------------------

// The pass keeps a list as long as the most announcements it has met: few go very deep at a time.
static void nest_very_deep(stress_worker *worker)
{
    if (atomic_fetch_add(&very_deep_count, 1) < VERY_DEEP_LIMIT) {
        stress_count_add(STRESS_VERY_DEEP);
        do_one(&actions[0], VERY_DEEP + stress_random(worker, DEEP));
    }
    atomic_fetch_sub(&very_deep_count, 1);
}

static void nest_once(stress_worker *worker)
{
    if (stress_chance(worker, 100)) {
        nest_very_deep(worker);
    } else {
        do_one(&actions[0], stress_random(worker, stress_chance(worker, 8) ? DEEP : 6));
    }
}

static void nest(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    stress_nested_me = (stress_nester){.worker = worker};
    (void)stress_expect(kw_thread_attach(), "attaching", &err);
    stress_own_open(worker->index);
    while (stress_goes_on()) {
        stress_nested_me.budget = BUDGET;
        nest_once(worker);
        if (stress_chance(worker, 16) || stress_nested_me.closed_count > STRESS_NESTED_CLOSED / 2) {
            stress_own_drain(true);
        }
    }
    stress_own_close();
}

static void write_group(stress_worker *worker)
{
    while (stress_goes_on()) {
        stress_group_commit(&stress_nested_group, worker);
        (void)stress_sample();
    }
}

static void watch(void)
{
}

void stress_nested_run(const stress_options *options)
{
    era = (stress_era){0};
    stress_nested_group = stress_probe_group("nested", OPERATORS, &era);
    stress_group_open(&stress_nested_group);
    kw_error err = KW_ERROR_INIT;
    const kw_kernel_descriptor fallthrough = KW_FALLTHROUGH();
    (void)stress_expect(
        kw_library_fallback(stress_nested_group.base, KW_KEY_Tracer, &fallthrough, NULL, &err),
        "registering a fallthrough", &err);
    stress_scene_arm(options);
    stress_workers_start(options->thread_count, nest, NULL, options);
    stress_workers_start(1, write_group, NULL, options);
    stress_watch(watch);
    stress_workers_stop();
    stress_group_close(&stress_nested_group);
    stress_scene_end(stress_nested_group.dispatcher);
}
