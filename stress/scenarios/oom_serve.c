// The clients of the scenario oom: everything else that allocates, each thing wholly or not at all.
//
// Layer:   stress
// Threads: a client has what it makes to itself.
// SPDX-License-Identifier: MIT

#include <stddef.h>
#include <stdio.h>

#include <keyway/inspect.h>
#include <keyway/object.h>
#include <keyway/observer.h>
#include <keyway/snapshot.h>

#include "driver/heap.h"
#include "scenarios/oom.h"
#include "shared/group.h"

static unsigned any_op(stress_worker *worker)
{
    return stress_random(worker, STRESS_OOM_OPS);
}

// Failed or not, calls go on.
static void call_any(stress_worker *worker)
{
    (void)stress_oom_call(any_op(worker), kw_keyset_from_key(KW_KEY_CPU), stress_chance(worker, 2));
}

static void share_snapshot(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    kw_snapshot open;
    kw_snapshot inside;
    kw_shared_snapshot *shared = NULL;
    bool is_open = stress_chance(worker, 2);
    if (is_open) { // the thread is attached, so it needs no memory
        (void)stress_expect(kw_snapshot_open(&open), "opening a snapshot", &err);
        stress_count_add(STRESS_SNAPSHOT);
    }
    if (stress_oom_may_fail(is_open ? kw_snapshot_share(&open, &shared, &err)
                                    : kw_shared_snapshot_create(&shared, &err),
                            "sharing", &err)) {
        (void)stress_expect(kw_shared_snapshot_enter(shared, &inside), "entering", &err);
        call_any(worker);
        (void)stress_expect(kw_snapshot_close(&inside), "closing a snapshot", &err);
        kw_shared_snapshot_release(shared);
        stress_count_add(STRESS_SHARE);
    } else if (shared != NULL) {
        stress_violation("state", "sharing fails and leaves a snapshot");
    }
    if (is_open) {
        (void)stress_expect(kw_snapshot_close(&open), "closing a snapshot", &err);
    }
}

// What fails to be taken back is there still, and is taken back with memory.
static void take_back(kw_status status, const char *what, kw_status (*again)(uint64_t number),
                      uint64_t number)
{
    if (!stress_oom_may_fail(status, what, NULL)) {
        kw_error err = KW_ERROR_INIT;
        stress_heap_hold();
        (void)stress_expect(again(number), what, &err);
        stress_heap_go_on();
    }
}

static void end_call(const kw_observation *observation, void *word, void *context)
{
    (void)observation;
    (void)word;
    (void)context;
}

static kw_status remove_observer(uint64_t number)
{
    return kw_observer_remove(stress_the_oom.dispatcher, number, NULL);
}

static void observe(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    static const char *const only[] = {"oom::*"};
    const kw_observer observer = {
        .struct_size = sizeof observer, .end = end_call, .only = only, .only_count = 1};
    uint64_t number = 0;
    kw_status status = kw_observer_add(stress_the_oom.dispatcher, &observer, &number, &err);
    if (status != KW_BUSY && stress_oom_may_fail(status, "observing", &err)) {
        call_any(worker);
        take_back(remove_observer(number), "removing an observer", remove_observer, number);
        stress_count_add(STRESS_OBSERVER);
    }
    call_any(worker);
}

static void hear(const kw_event *event, void *context)
{
    (void)event;
    (void)context;
}

static kw_status unlisten(uint64_t number)
{
    return kw_dispatcher_unlisten(stress_the_oom.dispatcher, number);
}

static void listen(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    const kw_listener listener = {
        .struct_size = sizeof listener, .event = hear, .wants_lint = stress_chance(worker, 2)};
    uint64_t number = 0;
    if (stress_oom_may_fail(
            kw_dispatcher_listen(stress_the_oom.dispatcher, &listener, &number, &err), "listening",
            &err)) {
        take_back(unlisten(number), "unlistening", unlisten, number);
    }
}

// A definition whose schema has something of everything.
static void define(stress_worker *worker)
{
    static const char *const tails[] = {
        "(Tensor x) -> Tensor",
        "(Tensor(a!) self, Tensor[] others, int[3] sizes=[1, 2, 3]) -> Tensor(a!)",
        "(Tensor? x=None, *, str text=\"some text\", float[] f=[1.5, 2.5]) -> (Tensor, int)",
        "(Tensor x, Generator? g=None, SymInt[2] n=1, Device? d=None) -> Tensor[]",
        "(Dict(str, Tensor) named, (int, float) pair, bool flag=True) -> ()",
    };
    kw_error err = KW_ERROR_INIT;
    char name[48];
    (void)snprintf(name, sizeof name, "client%u::f%u", worker->index, stress_random(worker, 50));
    char schema[192];
    (void)snprintf(schema, sizeof schema, "%s%s", name,
                   tails[stress_random(worker, sizeof tails / sizeof *tails)]);
    const kw_definition definition = KW_DEFINE(schema);
    const kw_operator *op = NULL;
    stress_heap_hold();
    kw_library *library = stress_library_open(stress_the_oom.dispatcher, "client");
    stress_heap_go_on();
    bool is_defined = stress_oom_may_fail(kw_library_define(library, &definition, NULL, &err),
                                          "a definition", &err);
    kw_status found = kw_operator_find_schema(stress_the_oom.dispatcher, name, &op, NULL);
    if (found != (is_defined ? KW_OK : KW_NOT_FOUND)) {
        stress_violation("answer", "after a definition that %s, a look-up answers %s",
                         is_defined ? "succeeded" : "failed", kw_status_name(found));
    }
    stress_heap_hold();
    stress_library_end(library);
    stress_heap_go_on();
}

static void count_operator(const kw_operator *op, void *context)
{
    (void)op;
    ++*(unsigned *)context;
}

static void count_registration(const kw_registration_row *row, void *context)
{
    (void)row;
    ++*(unsigned *)context;
}

static void visit(stress_worker *worker)
{
    unsigned count = 0;
    kw_status status = stress_chance(worker, 2)
                           ? kw_dispatcher_visit(stress_the_oom.dispatcher, count_operator, &count)
                           : kw_operator_visit_registrations(stress_the_oom.ops[any_op(worker)],
                                                             count_registration, &count);
    if (!stress_oom_may_fail(status, "a visit", NULL) && count > 0) {
        stress_violation("state", "a visit fails after %u visits", count);
    }
}

static void make_dispatcher(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    (void)worker;
    kw_dispatcher *dispatcher = NULL;
    if (stress_oom_may_fail(kw_dispatcher_create(NULL, &dispatcher, &err), "a dispatcher", &err)) {
        stress_heap_hold();
        (void)stress_expect(kw_dispatcher_destroy(dispatcher, &err), "destroying a dispatcher",
                            &err);
        stress_heap_go_on();
    } else if (dispatcher != NULL) {
        stress_violation("state", "making a dispatcher fails and leaves one");
    }
}

static void count_end(void *data)
{
    ++*(unsigned *)data;
}

static void make_object(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    (void)worker;
    unsigned ends = 0;
    const kw_object_options options = {.struct_size = sizeof options,
                                       .type_name = "__torch__.torch.classes.oom.Thing",
                                       .data = &ends,
                                       .destroy = count_end};
    kw_object *object = NULL;
    bool is_made =
        stress_oom_may_fail(kw_object_create(&options, &object, &err), "an object", &err);
    kw_object_release(object);
    if (ends != (is_made ? 1 : 0)) {
        stress_violation("state", "an object ends %u times", ends);
    }
}

static void wait_for_none(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    char name[48];
    (void)snprintf(name, sizeof name, "own%u::g", stress_random(worker, 1000));
    const kw_operator *op = NULL;
    kw_status status = kw_operator_wait(stress_the_oom.dispatcher, name, 0, &op, &err);
    if (status != KW_NOT_FOUND) {
        (void)stress_oom_may_fail(status, "waiting for an operator", &err);
    }
}

void stress_oom_serve(stress_worker *worker)
{
    static void (*const uses[])(stress_worker *) = {
        share_snapshot, observe, listen, define, visit, make_dispatcher, make_object, wait_for_none,
    };
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_thread_attach(), "attaching", &err);
    stress_heap_fail(STRESS_OOM_FAIL_ONE_IN, worker->random);
    while (stress_goes_on()) {
        uses[stress_random(worker, sizeof uses / sizeof *uses)](worker);
        stress_count_add(STRESS_SERVED);
        if (stress_chance(worker, 16)) {
            (void)stress_expect(kw_reclaim(), "reclaiming", &err);
            stress_count_add(STRESS_RECLAIM);
        }
    }
    stress_heap_fail(0, 1);
}
