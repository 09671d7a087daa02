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

#include "storm.h"
#include "subject.h"

#define NESTING_LIMIT 25 // deeper than the announcements that a thread's block holds
#define CALLS_UNDER_SNAPSHOT 30
#define CALLS_UNDER_LONG_SNAPSHOT 2000 // several commits long: readers walk past newer tables

// What a call is made with: the kernels leave in it which of them redispatched.
typedef struct argument {
    tensor x; // first: the kernels get a pointer to it
    uint64_t autograd;
} argument;

// What a thread knows of itself. Signal handlers of the thread read it too.
typedef struct reader {
    uint64_t pinned;                       // the version of the open snapshot; 0: none
    uint64_t generation;                   // that the snapshot showed first; 0: not yet
    kw_snapshot snapshot;                  // the outermost
    unsigned nesting;                      // calls the thread is inside
    unsigned snapshots;                    // open ones
    bool closes_inside;                    // the next kernel closes the snapshot
    uint64_t seen[STRESS_STORM_GROUP_OPS]; // generations; none goes back
    volatile sig_atomic_t is_ready;        // handlers may call
    volatile sig_atomic_t is_handling;
    uint32_t handler_random;
} reader;

static _Thread_local reader me;

static void call_once(stress_worker *worker, unsigned which, stress_path path, int64_t n);

// Checks -----------------------------------------------------------------------------------------

static void check_history(unsigned which, uint64_t first, uint64_t last,
                          const stress_observation *seen)
{
    const stress_history *history = &stress_the_storm.histories[which];
    stress_verdict verdict = stress_history_check(history, first, last, seen);
    stress_count_add(verdict == STRESS_UNKNOWN ? STRESS_UNCHECKED : STRESS_CHECKED);
    if (first != last) {
        stress_count_add(STRESS_OVERLAPPED);
    }
    if (verdict == STRESS_ILLEGAL) {
        char text[300];
        stress_history_describe(history, text, sizeof text);
        stress_violation("answer",
                         "`%s` (path %d%s) answers %d, cpu %llu autograd %llu between versions "
                         "%llu and %llu%s; legal: %s",
                         stress_the_storm.names[which], seen->path, seen->is_boxed ? " boxed" : "",
                         seen->answer, (unsigned long long)seen->id,
                         (unsigned long long)seen->autograd, (unsigned long long)first,
                         (unsigned long long)last, me.pinned != 0 ? ", a snapshot" : "", text);
    }
}

// All operators of the group show one generation under a snapshot, and none goes back for a thread.
static void check_generation(unsigned which, uint64_t pinned, uint64_t generation)
{
    if (pinned != 0 && pinned == me.pinned) {
        if (me.generation == 0) {
            me.generation = generation;
        }
        if (generation != me.generation) {
            stress_violation("transaction",
                             "a snapshot of version %llu shows generations %llu and %llu",
                             (unsigned long long)pinned, (unsigned long long)me.generation,
                             (unsigned long long)generation);
        }
    }
    if (me.nesting == 0 && me.is_handling == 0) {
        if (generation < me.seen[which]) {
            stress_violation("version", "`%s` goes from generation %llu back to %llu",
                             stress_the_storm.names[which], (unsigned long long)me.seen[which],
                             (unsigned long long)generation);
        }
        me.seen[which] = generation;
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
    return me.pinned != 0 ? me.pinned : kw_version();
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
    uint64_t pinned = me.pinned;
    uint64_t first = version_now();
    int64_t id = 0;
    me.nesting++;
    kw_status status =
        is_boxed ? typed_call_boxed(op, &given.x, n, &id) : typed_call(op, &given.x, n, &id);
    me.nesting--;
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

static void call_once(stress_worker *worker, unsigned which, stress_path path, int64_t n)
{
    call_with(which, path, stress_chance(worker, 8), n);
}

static void call_any(stress_worker *worker, int64_t n)
{
    unsigned which = stress_random(worker, STRESS_STORM_OPS);
    call_once(worker, which, random_path(worker, which), n);
}

void stress_storm_handle(int number)
{
    (void)number;
    if (!me.is_ready || me.is_handling) {
        return;
    }
    int saved_errno = errno;
    me.is_handling = 1;
    unsigned which = stress_random_step(&me.handler_random) % STRESS_STORM_OPS;
    stress_path path =
        stress_random_step(&me.handler_random) % 2 == 0 ? STRESS_PATH_CPU : STRESS_PATH_AUTOGRAD;
    call_with(which, path, false, 0);
    stress_count_add(STRESS_SIGNAL_CALL);
    me.is_handling = 0;
    errno = saved_errno;
}

// Snapshots --------------------------------------------------------------------------------------

// While a pin changes, a handler could not know which version its call is to see.
static void open_snapshot(kw_snapshot *snapshot)
{
    kw_error err = KW_ERROR_INIT;
    sig_atomic_t was_ready = me.is_ready;
    me.is_ready = 0;
    (void)stress_expect(kw_snapshot_open(snapshot), "opening a snapshot", &err);
    if (me.snapshots++ == 0) {
        me.pinned = snapshot->version;
        me.generation = 0;
    } else if (snapshot->version != me.pinned) {
        stress_violation("version", "a snapshot inside one of version %llu is of version %llu",
                         (unsigned long long)me.pinned, (unsigned long long)snapshot->version);
    }
    me.is_ready = was_ready;
    stress_count_add(STRESS_SNAPSHOT);
}

static void close_snapshot(kw_snapshot *snapshot)
{
    kw_error err = KW_ERROR_INIT;
    sig_atomic_t was_ready = me.is_ready;
    me.is_ready = 0;
    (void)stress_expect(kw_snapshot_close(snapshot), "closing a snapshot", &err);
    if (--me.snapshots == 0) {
        me.pinned = 0;
    }
    me.is_ready = was_ready;
}

// Calls until the snapshot is not the newest version any more, or for a while.
static void wait_for_commit(stress_worker *worker)
{
    for (int i = 0; i < 64 && kw_version() == me.pinned && stress_goes_on(); i++) {
        call_any(worker, 0);
        (void)sched_yield();
    }
}

static void read_under_snapshot(stress_worker *worker)
{
    open_snapshot(&me.snapshot);
    uint32_t calls = stress_random(worker, stress_chance(worker, 16) ? CALLS_UNDER_LONG_SNAPSHOT
                                                                     : CALLS_UNDER_SNAPSHOT);
    for (uint32_t i = 0; i < calls && stress_goes_on(); i++) {
        call_any(worker, stress_chance(worker, 8) ? 2 : 0);
    }
    if (stress_chance(worker, 4)) {
        kw_snapshot inner;
        open_snapshot(&inner);
        call_any(worker, 0);
        close_snapshot(&inner);
        call_any(worker, 0);
    }
    if (stress_chance(worker, 2)) {
        wait_for_commit(worker);
        me.closes_inside = true;
        call_once(worker, stress_random(worker, STRESS_STORM_GROUP_OPS), STRESS_PATH_CPU, 0);
    }
    if (me.snapshots > 0) { // no kernel ran that could close it
        me.closes_inside = false;
        close_snapshot(&me.snapshot);
    }
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
    if (me.is_handling) {
        return;
    }
    if (me.closes_inside && me.snapshots == 1) {
        me.closes_inside = false;
        close_snapshot(&me.snapshot);
        stress_count_add(STRESS_CLOSED_INSIDE);
        (void)sched_yield();
    }
    if (n > 0) {
        stress_count_add(STRESS_NESTED_CALL);
        call_any(worker, n - 1);
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
    if (!me.is_handling && !me.closes_inside && stress_chance(worker, 16)) {
        kw_snapshot inside;
        open_snapshot(&inside);
        call_any(worker, 0);
        close_snapshot(&inside);
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
    me = (reader){.handler_random = worker->random ^ 0x5eed5eedU};
    me.handler_random |= 1;
    (void)stress_expect(kw_thread_attach(), "attaching", &err);
    me.is_ready = 1;
    while (stress_goes_on()) {
        uint32_t dice = stress_random(worker, 32);
        if (dice == 0) {
            find_once(worker);
        } else if (dice == 1) {
            read_under_snapshot(worker);
        } else if (dice < 8) {
            (void)sched_yield();
        } else {
            call_any(worker, random_nesting(worker));
        }
    }
    me.is_ready = 0;
}
