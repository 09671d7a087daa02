// The storm's readers: calls of every sort, their kernels, and the check of each answer.
//
// Layer:   stress
// Threads: readers, and whoever is inside a kernel.
// SPDX-License-Identifier: MIT

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>

#include <keyway/snapshot.h>

#include "scenarios/storm_reader.h"
#include "shared/subject.h"

#define NESTING_LIMIT 25 // deeper than the announcements that a thread's block holds

// What a call is made with: the kernels leave in it which of them redispatched.
typedef struct argument {
    tensor x; // first: the kernels get a pointer to it
    uint64_t autograd;
} argument;

_Thread_local stress_reader stress_me;

// Checks -----------------------------------------------------------------------------------------

static void check_history(unsigned which, uint64_t first, uint64_t last,
                          const stress_observation *seen)
{
    const stress_history *history = &stress_the_storm.histories[which];
    char text[300];
    if (!stress_history_allows(history, first, last, seen, text, sizeof text)) {
        stress_violation("answer",
                         "`%s` (path %d%s) answers %d, cpu %llu autograd %llu between versions "
                         "%llu and %llu%s; legal: %s",
                         stress_the_storm.names[which], seen->path, seen->is_boxed ? " boxed" : "",
                         seen->answer, (unsigned long long)seen->id,
                         (unsigned long long)seen->autograd, (unsigned long long)first,
                         (unsigned long long)last, stress_me.pinned != 0 ? ", a snapshot" : "",
                         text);
    }
}

// All operators of the group show one generation under a snapshot, and none goes back for a thread.
static void check_generation(unsigned which, uint64_t pinned, uint64_t generation)
{
    if (pinned != 0 && pinned == stress_me.pinned) {
        if (stress_me.generation == 0) {
            stress_me.generation = generation;
        }
        if (generation != stress_me.generation) {
            stress_violation("transaction",
                             "a snapshot of version %llu shows generations %llu and %llu",
                             (unsigned long long)pinned, (unsigned long long)stress_me.generation,
                             (unsigned long long)generation);
        }
    }
    if (stress_me.nesting == 0 && stress_me.is_handling == 0 && !stress_me.is_shared) {
        if (generation < stress_me.seen[which]) {
            stress_violation("version", "`%s` goes from generation %llu back to %llu",
                             stress_the_storm.names[which],
                             (unsigned long long)stress_me.seen[which],
                             (unsigned long long)generation);
        }
        stress_me.seen[which] = generation;
    }
}

static stress_answer answer_of(kw_status status)
{
    switch (status) {
    case KW_OK:
        return STRESS_ANSWERED;
    case KW_NO_KERNEL:
    case KW_NO_KERNEL_FOR_KEY:
    case KW_NO_TENSOR_ARGUMENTS:
        return STRESS_NO_KERNEL;
    case KW_OPERATOR_REMOVED:
    case KW_NOT_FOUND:
        return STRESS_REMOVED;
    case KW_OPERATOR_UNDEFINED:
        return STRESS_UNDEFINED;
    default:
        return STRESS_OTHER;
    }
}

// Calls ------------------------------------------------------------------------------------------

static uint64_t version_now(void)
{
    return stress_me.pinned != 0 ? stress_me.pinned : kw_version();
}

static kw_keyset keys_of(unsigned which, stress_path path)
{
    kw_keyset cpu = kw_keyset_from_key(KW_KEY_CPU);
    if (path == STRESS_PATH_FALLBACK) {
        unsigned writer = (which - STRESS_STORM_GROUP_OPS) / STRESS_STORM_OPS_EACH;
        return kw_keyset_from_key(stress_storm_fallback_key(writer));
    }
    return path == STRESS_PATH_AUTOGRAD ? kw_keyset_add(cpu, KW_KEY_AutogradCPU) : cpu;
}

static void call_with(unsigned which, stress_path path, bool is_boxed, int64_t n)
{
    argument given = {.x = typed_tensor(keys_of(which, path))};
    const kw_operator *op = stress_the_storm.ops[which];
    uint64_t pinned = stress_me.pinned;
    uint64_t first = version_now();
    int64_t id = 0;
    stress_me.nesting++;
    kw_status status =
        is_boxed ? typed_call_boxed(op, &given.x, n, &id) : typed_call(op, &given.x, n, &id);
    stress_me.nesting--;
    uint64_t last = pinned != 0 ? pinned : kw_version();
    stress_count_add(is_boxed ? STRESS_BOXED_CALL : STRESS_CALL);
    const stress_observation seen = {
        .path = path,
        .answer = answer_of(status),
        .is_boxed = is_boxed,
        .id = status == KW_OK ? (uint64_t)id : 0,
        .autograd = given.autograd,
    };
    check_history(which, first, last, &seen);
    if (which < STRESS_STORM_GROUP_OPS && status == KW_OK) {
        if (given.autograd != 0 && given.autograd != seen.id) {
            stress_violation("table", "one call runs kernels of generations %llu and %llu",
                             (unsigned long long)stress_generation_of(given.autograd),
                             (unsigned long long)stress_generation_of(seen.id));
        }
        check_generation(which, pinned, stress_generation_of(seen.id));
    }
}

static stress_path random_path(stress_worker *worker, unsigned which)
{
    uint32_t dice = stress_random(worker, 8);
    if (dice == 0 && which >= STRESS_STORM_GROUP_OPS) {
        return STRESS_PATH_FALLBACK;
    }
    return dice < 5 ? STRESS_PATH_CPU : STRESS_PATH_AUTOGRAD;
}

void stress_storm_call(stress_worker *worker, unsigned which, stress_path path, int64_t n)
{
    call_with(which, path, stress_chance(worker, 8), n);
}

void stress_storm_call_any(stress_worker *worker, int64_t n)
{
    unsigned which = stress_random(worker, STRESS_STORM_OPS);
    stress_storm_call(worker, which, random_path(worker, which), n);
}

void stress_storm_handle(int number)
{
    (void)number;
    if (!stress_me.is_ready || stress_me.is_handling) {
        return;
    }
    int saved_errno = errno;
    stress_me.is_handling = 1;
    unsigned which = stress_random_step(&stress_me.handler_random) % STRESS_STORM_OPS;
    stress_path path = stress_random_step(&stress_me.handler_random) % 2 == 0
                           ? STRESS_PATH_CPU
                           : STRESS_PATH_AUTOGRAD;
    call_with(which, path, false, 0);
    stress_count_add(STRESS_SIGNAL_CALL);
    stress_me.is_handling = 0;
    errno = saved_errno;
}

// Kernels ----------------------------------------------------------------------------------------

static void pause_inside(stress_worker *worker)
{
    if (stress_chance(worker, 32)) {
        for (volatile uint32_t i = stress_random(worker, 4000); i > 0; i--) {
        }
    }
    if (stress_chance(worker, 512)) {
        (void)sched_yield();
    }
}

// What a kernel does besides answering.
static void be_inside(int64_t n)
{
    stress_worker *worker = stress_worker_self();
    if (stress_me.is_handling) {
        return;
    }
    if (stress_me.closes_inside && stress_me.snapshots == 1) {
        stress_me.closes_inside = false;
        stress_storm_close(&stress_me.snapshot);
        stress_count_add(STRESS_CLOSED_INSIDE);
        (void)sched_yield();
    }
    if (n > 0) {
        stress_count_add(STRESS_NESTED_CALL);
        stress_storm_call_any(worker, n - 1);
    }
    pause_inside(worker);
}

// The id of the kernel, the same at the end of its run as at the begin.
static uint64_t run(const kw_kernel *self, int64_t n)
{
    uint64_t id = stress_subject_id(self);
    be_inside(n);
    uint64_t id_after = stress_subject_id(self);
    if (id_after != id && id != 0 && id_after != 0) {
        stress_violation("poison", "a kernel changes while it runs");
    }
    return id;
}

kw_status stress_storm_cpu(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                           int64_t *out_0)
{
    (void)keys;
    (void)x;
    *out_0 = (int64_t)run(self, n);
    return KW_OK;
}

kw_status stress_storm_cpu_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                 kw_frame *frame)
{
    (void)op;
    (void)keys;
    frame->returns[0] = kw_value_int((int64_t)run(self, frame->args[1].as.as_int));
    return KW_OK;
}

kw_status stress_storm_autograd(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                int64_t *out_0)
{
    stress_worker *worker = stress_worker_self();
    ((argument *)x)->autograd = stress_subject_id(self);
    if (!stress_me.is_handling && !stress_me.closes_inside && stress_chance(worker, 16)) {
        kw_snapshot inside;
        stress_storm_open(&inside);
        stress_storm_call_any(worker, 0);
        stress_storm_close(&inside);
    }
    stress_count_add(STRESS_REDISPATCH);
    kw_status status =
        typed_redispatch(self->op, kw_keyset_remove(keys, KW_KEY_AutogradCPU), x, n, out_0);
    (void)stress_subject_id(self);
    return status;
}

// Readers ----------------------------------------------------------------------------------------

static void find_once(stress_worker *worker)
{
    unsigned which = stress_random(worker, STRESS_STORM_OPS);
    const kw_operator *op = NULL;
    uint64_t first = version_now();
    kw_status status = kw_operator_find_typed(
        stress_the_storm.dispatcher, stress_the_storm.names[which], TYPED_SIGNATURE, &op, NULL);
    uint64_t last = version_now();
    const stress_observation seen = {.path = STRESS_PATH_FIND, .answer = answer_of(status)};
    stress_count_add(STRESS_FIND);
    check_history(which, first, last, &seen);
    if (status == KW_OK && op != stress_the_storm.ops[which]) {
        stress_violation("answer", "a look-up of `%s` gives another handle",
                         stress_the_storm.names[which]);
    }
}

static int64_t random_nesting(stress_worker *worker)
{
    if (stress_chance(worker, 64)) {
        return NESTING_LIMIT;
    }
    return stress_chance(worker, 4) ? 1 + stress_random(worker, 3) : 0;
}

void stress_storm_read(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    stress_me = (stress_reader){.handler_random = worker->random ^ 0x5eed5eedU};
    stress_me.handler_random |= 1;
    (void)stress_expect(kw_thread_attach(), "attaching", &err);
    stress_me.is_ready = 1;
    while (stress_goes_on()) {
        uint32_t dice = stress_random(worker, 32);
        if (dice == 0) {
            find_once(worker);
        } else if (dice == 1) {
            stress_storm_read_under_snapshot(worker);
        } else if (dice < 8) {
            stress_storm_read_shared(worker); // or gives way
        } else {
            stress_storm_call_any(worker, random_nesting(worker));
        }
    }
    stress_me.is_ready = 0;
    stress_storm_empty_places(); // the last reader leaves none, and no drain waits for them
}
