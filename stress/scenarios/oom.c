// Out of memory: the embedder's allocator fails at random, in bursts, and altogether for a while.
//
// Layer:   stress
// Threads: some call; writers and clients have allocations that fail.
// SPDX-License-Identifier: MIT
//
// It imitates a host that lives at the limit of its memory. Every failure is KW_NO_MEMORY and
// changes nothing: each writer looks after it whether its operators answer what its model says.
// Calls need no memory, and go on all the time. At the end everything is given back, by the
// library's count and by the heap's.

#include "scenarios/oom.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "driver/heap.h"
#include "driver/scenario.h"
#include "scenarios/storm.h"
#include "shared/scene.h"
#include "shared/subject.h"

#define EXHAUSTED_ONE_IN 50 // milliseconds that begin a time without memory
#define EXHAUSTED_MS 20
#define KEPT_PIECES 12

_Static_assert(STRESS_OOM_OPS_EACH == STRESS_STORM_OPS_EACH, "a plan is for so many operators");

stress_oom stress_the_oom;
static stress_worker exhauster; // for the choices of the main thread
static unsigned exhausted_ms;   // that are left

bool stress_oom_may_fail(kw_status status, const char *what, const kw_error *err)
{
    if (status == KW_NO_MEMORY) {
        stress_count_add(STRESS_NO_MEMORY);
    } else if (status != KW_OK) {
        stress_violation("status", "%s without memory answers %s: %s", what, kw_status_name(status),
                         err != NULL ? err->text : "");
    }
    if (status != KW_OK && err != NULL && err->status != status) {
        stress_violation("status", "%s answers %s, and its error says %s", what,
                         kw_status_name(status), kw_status_name(err->status));
    }
    return status == KW_OK;
}

// Calls ------------------------------------------------------------------------------------------

typedef struct argument {
    tensor x; // first: the kernels get a pointer to it
    uint64_t autograd;
} argument;

static uint64_t run(const kw_kernel *self)
{
    uint64_t id = stress_subject_id(self);
    if (stress_subject_id(self) != id) {
        stress_violation("poison", "a kernel changes while it runs");
    }
    return id;
}

kw_status stress_oom_cpu(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    (void)keys;
    (void)x;
    (void)n;
    *out_0 = (int64_t)run(self);
    return KW_OK;
}

kw_status stress_oom_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    (void)op;
    (void)keys;
    frame->returns[0] = kw_value_int((int64_t)run(self));
    return KW_OK;
}

kw_status stress_oom_autograd(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                              int64_t *out_0)
{
    ((argument *)x)->autograd = run(self);
    return typed_redispatch(self->op, kw_keyset_remove(keys, KW_KEY_AutogradCPU), x, n, out_0);
}

stress_oom_answer stress_oom_call(unsigned which, kw_keyset keys, bool is_boxed)
{
    argument given = {.x = typed_tensor(keys)};
    const kw_operator *op = stress_the_oom.ops[which];
    uint64_t failures = stress_heap_failure_count();
    int64_t id = 0;
    kw_status status =
        is_boxed ? typed_call_boxed(op, &given.x, 0, &id) : typed_call(op, &given.x, 0, &id);
    stress_count_add(is_boxed ? STRESS_BOXED_CALL : STRESS_CALL);
    if (stress_heap_failure_count() != failures) {
        stress_violation("memory", "a call asks for memory");
    }
    return (stress_oom_answer){
        .status = status, .id = status == KW_OK ? (uint64_t)id : 0, .autograd = given.autograd};
}

static void check_status(kw_status status)
{
    switch (status) {
    case KW_OK:
    case KW_NO_KERNEL:
    case KW_NO_KERNEL_FOR_KEY:
    case KW_NO_TENSOR_ARGUMENTS:
    case KW_OPERATOR_REMOVED:
    case KW_OPERATOR_UNDEFINED:
        return;
    default:
        stress_violation("status", "a call answers %s: %s", kw_status_name(status),
                         kw_call_error());
    }
}

static void read_ops(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_thread_attach(), "attaching", &err);
    stress_heap_fail(1, worker->random); // every allocation that a call would make
    while (stress_goes_on()) {
        kw_keyset keys = kw_keyset_from_key(KW_KEY_CPU);
        if (stress_chance(worker, 2)) {
            keys = kw_keyset_add(keys, KW_KEY_AutogradCPU);
        }
        check_status(
            stress_oom_call(stress_random(worker, STRESS_OOM_OPS), keys, stress_chance(worker, 4))
                .status);
    }
}

// The run ----------------------------------------------------------------------------------------

static void exhaust_some_times(void)
{
    if (exhausted_ms > 0) {
        exhausted_ms--;
    } else if (stress_chance(&exhauster, EXHAUSTED_ONE_IN)) {
        exhausted_ms = 1 + stress_random(&exhauster, EXHAUSTED_MS);
        stress_count_add(STRESS_EXHAUSTED);
    }
    stress_heap_exhaust(exhausted_ms > 0);
}

// The handles outlive every definition: each operator is defined once for them.
static void find_operators(void)
{
    kw_library *library = stress_library_open(stress_the_oom.dispatcher, "first definitions");
    kw_error err = KW_ERROR_INIT;
    for (unsigned i = 0; i < STRESS_OOM_OPS; i++) {
        char *name = stress_the_oom.names[i];
        (void)snprintf(name, sizeof stress_the_oom.names[i], "oom::op%u", i);
        char schema[64];
        (void)snprintf(schema, sizeof schema, "oom::op%u(Tensor x, int n) -> int", i);
        const kw_definition definition = KW_DEFINE(schema);
        (void)stress_expect(kw_library_define(library, &definition, NULL, &err),
                            "defining an operator", &err);
        (void)stress_expect(kw_operator_find_typed(stress_the_oom.dispatcher, name, TYPED_SIGNATURE,
                                                   &stress_the_oom.ops[i], &err),
                            "finding an operator", &err);
    }
    stress_library_end(library);
}

// The library keeps a few lists for good, however long; what leaks makes many pieces.
static void check_heap(uint64_t pieces_before)
{
    kw_statistics now = {.struct_size = sizeof now};
    kw_statistics_get(&now);
    if (now.memory_bytes != stress_heap_live_bytes()) {
        stress_violation("leak", "the library counts %llu bytes and the heap %llu",
                         (unsigned long long)now.memory_bytes,
                         (unsigned long long)stress_heap_live_bytes());
    }
    if (stress_heap_live_pieces() > pieces_before + KEPT_PIECES) {
        stress_violation("leak", "%llu pieces of memory at the end, %llu at the start",
                         (unsigned long long)stress_heap_live_pieces(),
                         (unsigned long long)pieces_before);
    }
}

static void hear(const kw_event *event, void *context)
{
    (void)event;
    (void)context;
}

// Somebody always listens, so that each commit has events to find memory for.
static void listen(void)
{
    kw_error err = KW_ERROR_INIT;
    uint64_t id = 0; // it goes with the dispatcher
    const kw_listener listener = {
        .struct_size = sizeof listener, .event = hear, .wants_lint = true};
    (void)stress_expect(kw_dispatcher_listen(stress_the_oom.dispatcher, &listener, &id, &err),
                        "listening", &err);
}

void stress_oom_run(const stress_options *options)
{
    memset(&stress_the_oom, 0, sizeof stress_the_oom);
    exhauster = (stress_worker){.random = options->seed | 1};
    exhausted_ms = 0;
    uint64_t pieces = stress_heap_live_pieces();
    stress_the_oom.dispatcher = stress_scene_open();
    find_operators();
    listen();
    stress_scene_arm(options);
    unsigned readers = (options->thread_count + 1) / 2;
    stress_workers_start(readers, read_ops, NULL, options);
    stress_workers_start(options->thread_count - readers + 1, stress_oom_serve, NULL, options);
    stress_workers_start(STRESS_OOM_WRITERS, stress_oom_write, NULL, options);
    stress_workers_start(1, stress_oom_gather, NULL, options);
    stress_watch(exhaust_some_times);
    stress_workers_stop();
    stress_heap_exhaust(false);
    stress_scene_end(stress_the_oom.dispatcher);
    check_heap(pieces);
}
