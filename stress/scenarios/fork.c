// Fork: a thread forks at random moments while others call, commit, begin and end.
//
// Layer:   stress
// Threads: callers, one writer, one that makes short threads, one that forks.
// SPDX-License-Identifier: MIT
//
// It imitates a server that forks workers and helpers whenever it likes: in a call, under a
// snapshot, with the library's handlers or its own. Each child calls, commits, drains and counts in
// its own copy, some fork again, and says by its status whether all was as it should be. The parent
// goes on and never notices.

#include "scenarios/fork.h"

#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <keyway/fork.h>
#include <keyway/snapshot.h>

#include "driver/process.h"
#include "driver/scenario.h"
#include "shared/subject.h"

#define FORKS 1 // the argument that makes a kernel fork
#define CHILDREN 3
#define PAUSE_US 3000
#define TURN_US 100

stress_group stress_fork_group;

// What the kernel that forks leaves for its caller.
static _Thread_local struct {
    stress_fork_way way;
    pid_t child;
} forked;

static kw_status kernel_cpu(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                            int64_t *out_0)
{
    (void)keys;
    (void)x;
    uint64_t id = stress_subject_id(self);
    if (n == FORKS) {
        forked.child = stress_fork(forked.way);
        if (forked.child == 0) {
            stress_fork_begin();
            stress_fork_live(stress_worker_self(), forked.way, 1, 0, true);
        }
    }
    if (stress_subject_id(self) != id) {
        stress_violation("poison", "a kernel changes while it runs");
    }
    *out_0 = (int64_t)id;
    return KW_OK;
}

static kw_status kernel_autograd(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                 int64_t *out_0)
{
    uint64_t id = stress_subject_id(self);
    return stress_subject_id(self) == id
               ? typed_redispatch(self->op, kw_keyset_remove(keys, KW_KEY_AutogradCPU), x, n, out_0)
               : KW_INTERNAL;
}

uint64_t stress_fork_call(unsigned which, int64_t n)
{
    kw_keyset keys = kw_keyset_from_key(KW_KEY_CPU);
    tensor x = typed_tensor(which % 2 == 0 ? keys : kw_keyset_add(keys, KW_KEY_AutogradCPU));
    int64_t id = 0;
    kw_status status = typed_call(stress_fork_group.ops[which], &x, n, &id);
    if (status != KW_OK) {
        stress_violation("answer", "a call answers %s: %s", kw_status_name(status),
                         kw_call_error());
    }
    stress_count_add(STRESS_CALL);
    return stress_generation_of((uint64_t)id);
}

// The parent's threads ---------------------------------------------------------------------------

static void call_both(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    uint64_t newest = 0;
    while (stress_goes_on()) {
        kw_snapshot snapshot;
        (void)stress_expect(kw_snapshot_open(&snapshot), "opening a snapshot", &err);
        stress_count_add(STRESS_SNAPSHOT);
        uint64_t one = stress_fork_call(stress_random(worker, STRESS_FORK_OPS), 0);
        uint64_t other = stress_fork_call(stress_random(worker, STRESS_FORK_OPS), 0);
        (void)stress_expect(kw_snapshot_close(&snapshot), "closing a snapshot", &err);
        if (one != other) {
            stress_violation("transaction", "a snapshot shows generations %llu and %llu",
                             (unsigned long long)one, (unsigned long long)other);
        }
        uint64_t last = stress_fork_call(stress_random(worker, STRESS_FORK_OPS), 0);
        if (one < newest || last < one) {
            stress_violation("version", "generations %llu, %llu, %llu in this order",
                             (unsigned long long)newest, (unsigned long long)one,
                             (unsigned long long)last);
        }
        newest = last;
    }
}

// AddressSanitizer's allocator of older compilers has locks that it does not take for a fork. With
// it, those who allocate and the one who forks take turns; callers go on.
#if defined(__SANITIZE_ADDRESS__)
#define TAKES_TURNS true
#else
#define TAKES_TURNS false
#endif

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void begin_turn(void)
{
    if (TAKES_TURNS) {
        (void)pthread_mutex_lock(&turn);
    }
}

static void end_turn(void)
{
    if (TAKES_TURNS) {
        (void)pthread_mutex_unlock(&turn);
        stress_pause_us(TURN_US);
    }
}

static void write_group(stress_worker *worker)
{
    while (stress_goes_on()) {
        begin_turn();
        stress_group_commit(&stress_fork_group, worker);
        end_turn();
        (void)stress_sample();
    }
}

static void *call_once(void *unused)
{
    (void)stress_fork_call(0, 0);
    return unused;
}

static void make_threads(stress_worker *worker)
{
    while (stress_goes_on()) {
        pthread_t thread;
        begin_turn();
        if (pthread_create(&thread, NULL, call_once, NULL) == 0) {
            (void)pthread_join(thread, NULL);
            stress_count_add(STRESS_SHORT_THREAD);
        }
        end_turn();
        stress_pause_us(stress_random(worker, PAUSE_US));
    }
}

// The one that forks -----------------------------------------------------------------------------

static pid_t fork_plainly(stress_worker *worker, stress_fork_way way)
{
    uint64_t generation = stress_fork_call(0, 0);
    pid_t child = stress_fork(way);
    if (child == 0) {
        stress_fork_begin();
        stress_fork_live(worker, way, 1, generation, false);
        stress_fork_end();
    }
    return child;
}

// The child is inside the call too, and ends it.
static pid_t fork_in_call(stress_worker *worker, stress_fork_way way)
{
    forked.way = way;
    uint64_t generation = stress_fork_call(stress_random(worker, STRESS_FORK_OPS), FORKS);
    if (forked.child == 0) {
        stress_fork_live(worker, way, 1, generation, false);
        stress_fork_end();
    }
    return forked.child;
}

static pid_t fork_under_snapshot(stress_worker *worker, stress_fork_way way)
{
    kw_error err = KW_ERROR_INIT;
    kw_snapshot snapshot;
    (void)stress_expect(kw_snapshot_open(&snapshot), "opening a snapshot", &err);
    uint64_t generation = stress_fork_call(0, 0);
    pid_t child = stress_fork(way);
    if (child == 0) {
        stress_fork_begin();
        stress_fork_live(worker, way, 1, generation, true);
    }
    for (unsigned i = 0; i < STRESS_FORK_OPS; i++) {
        if (stress_fork_call(i, 0) != generation) {
            stress_violation("transaction", "a snapshot has changed over a fork");
        }
    }
    (void)stress_expect(kw_snapshot_close(&snapshot), "closing a snapshot", &err);
    if (child == 0) {
        stress_fork_live(worker, way, 1, generation, false);
        stress_fork_end();
    }
    return child;
}

static void fork_often(stress_worker *worker)
{
    static pid_t (*const places[])(stress_worker *, stress_fork_way) = {
        fork_plainly, fork_plainly, fork_in_call, fork_under_snapshot};
    pid_t children[CHILDREN] = {0};
    for (unsigned i = 0; stress_goes_on(); i = (i + 1) % CHILDREN) {
        if (children[i] != 0) {
            stress_fork_join(children[i]);
        }
        stress_fork_way way = (stress_fork_way)stress_random(worker, STRESS_FORK_WAYS);
        begin_turn();
        children[i] = places[stress_random(worker, sizeof places / sizeof places[0])](worker, way);
        end_turn();
        stress_count_add(STRESS_FORKED);
        stress_pause_us(stress_random(worker, PAUSE_US));
    }
    for (unsigned i = 0; i < CHILDREN; i++) {
        if (children[i] > 0) {
            stress_fork_join(children[i]);
        }
    }
}

// The run ----------------------------------------------------------------------------------------

static void begin(void)
{
    kw_tensor_type type = typed_tensor_type();
    const kw_dispatcher_options wanted = {.struct_size = sizeof wanted, .tensor_type = &type};
    kw_error err = KW_ERROR_INIT;
    stress_fork_group = (stress_group){
        .ns = "fork",
        .op_count = STRESS_FORK_OPS,
        .cpu = kernel_cpu,
        .autograd = kernel_autograd,
    };
    if (!stress_expect(kw_dispatcher_create(&wanted, &stress_fork_group.dispatcher, &err),
                       "creating a dispatcher", &err)) {
        stress_give_up("there is no dispatcher");
    }
    stress_group_open(&stress_fork_group);
}

static void end(void)
{
    kw_error err = KW_ERROR_INIT;
    stress_workers_stop();
    stress_group_close(&stress_fork_group);
    (void)stress_expect(kw_reclaim(), "reclaiming", &err);
    (void)stress_expect(kw_dispatcher_destroy(stress_fork_group.dispatcher, &err),
                        "destroying the dispatcher", &err);
    if (stress_subject_alive_count() != 0) {
        stress_violation("leak", "%llu user data are not destroyed",
                         (unsigned long long)stress_subject_alive_count());
    }
    stress_check_end();
}

static void nothing(void)
{
}

void stress_fork_run(const stress_options *options)
{
    begin();
    kwi_fault_set(options->fault);
    kwi_yield_set(options->delay_one_in);
    stress_workers_start(options->thread_count, call_both, NULL, options);
    stress_workers_start(1, write_group, NULL, options);
    stress_workers_start(1, make_threads, NULL, options);
    stress_workers_start(1, fork_often, NULL, options);
    stress_watch(nothing);
    end();
}
