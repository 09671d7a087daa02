// Parked: calls and snapshots that stay for a while, while a writer commits as fast as it can.
//
// Layer:   stress
// Threads: half of the threads park inside kernels, the others under snapshots; one writes.
// SPDX-License-Identifier: MIT
//
// What a parked thread holds is its own table, or one table an operator for a snapshot. Everything
// else must be freed as if nobody were parked, after each commit.

#include <semaphore.h>
#include <string.h>

#include <keyway/snapshot.h>

#include "driver/scenario.h"
#include "shared/group.h"
#include "shared/subject.h"

#define OPERATORS 8
#define THREAD_LIMIT 64
#define PARKS 1 // the argument that makes a kernel park

// What a table and the kernels it names take, generously.
#define BYTES_OF_TABLE 4096

static stress_group group;
static sem_t gates[THREAD_LIMIT];
static unsigned thread_count;
static uint64_t retired_limit;
static uint64_t bytes_limit;
static stress_worker guard_of_gates; // for the choices of the main thread

static unsigned caller_count(void)
{
    return (thread_count + 1) / 2;
}

// A parked thread waits until the main thread lets it go.
static void park(void)
{
    while (sem_wait(&gates[stress_worker_self()->index]) != 0) {
    }
}

static kw_status kernel_parking(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                int64_t *out_0)
{
    (void)keys;
    (void)x;
    uint64_t id = stress_subject_id(self);
    if (n == PARKS) {
        park();
    }
    if (stress_subject_id(self) != id) {
        stress_violation("poison", "a parked kernel changes");
    }
    *out_0 = (int64_t)id;
    return KW_OK;
}

static kw_status kernel_autograd(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                 int64_t *out_0)
{
    uint64_t id = stress_subject_id(self);
    kw_status status =
        typed_redispatch(self->op, kw_keyset_remove(keys, KW_KEY_AutogradCPU), x, n, out_0);
    if (stress_subject_id(self) != id || (uint64_t)*out_0 != id) {
        stress_violation("table", "a parked chain sees two tables");
    }
    return status;
}

static uint64_t generation_of(unsigned which, int64_t n)
{
    kw_keyset keys = kw_keyset_add(kw_keyset_from_key(KW_KEY_CPU), KW_KEY_AutogradCPU);
    tensor x = typed_tensor(keys);
    int64_t id = 0;
    kw_status status = typed_call(group.ops[which], &x, n, &id);
    if (status != KW_OK) {
        stress_violation("answer", "a call answers %s: %s", kw_status_name(status),
                         kw_call_error());
    }
    stress_count_add(STRESS_CALL);
    return stress_generation_of((uint64_t)id);
}

static void park_in_call(stress_worker *worker)
{
    while (stress_goes_on()) {
        unsigned which = stress_random(worker, OPERATORS);
        uint64_t before = generation_of(which, 0);
        uint64_t parked = generation_of(which, PARKS);
        uint64_t after = generation_of(which, 0);
        if (parked < before || after < parked) {
            stress_violation("version", "generations %llu, %llu, %llu in this order",
                             (unsigned long long)before, (unsigned long long)parked,
                             (unsigned long long)after);
        }
        stress_count_add(STRESS_PARKED_CALL);
        if (after > parked) {
            stress_count_add(STRESS_PARKED_OVERTAKEN);
        }
    }
}

static void park_under_snapshot(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    while (stress_goes_on()) {
        kw_snapshot snapshot;
        (void)stress_expect(kw_snapshot_open(&snapshot), "opening a snapshot", &err);
        stress_count_add(STRESS_SNAPSHOT);
        uint64_t generation = generation_of(stress_random(worker, OPERATORS), 0);
        park();
        for (unsigned i = 0; i < OPERATORS; i++) {
            if (generation_of(i, 0) != generation) {
                stress_violation("transaction", "a parked snapshot shows two generations");
            }
        }
        (void)stress_expect(kw_snapshot_close(&snapshot), "closing a snapshot", &err);
        stress_count_add(STRESS_PARKED_SNAPSHOT);
    }
}

static void park_thread(stress_worker *worker)
{
    if (worker->index < caller_count()) {
        park_in_call(worker);
    } else {
        park_under_snapshot(worker);
    }
}

static void write_group(stress_worker *worker)
{
    while (stress_goes_on()) {
        stress_group_commit(&group, worker);
        uint64_t retired = stress_sample();
        if (retired > retired_limit) {
            stress_violation("memory", "%llu tables are retired; the parked ones explain %llu",
                             (unsigned long long)retired, (unsigned long long)retired_limit);
        }
        kw_statistics now = {.struct_size = sizeof now};
        kw_statistics_get(&now);
        if (now.memory_bytes > bytes_limit) {
            stress_violation("memory", "%llu bytes are in use; the parked tables explain %llu",
                             (unsigned long long)now.memory_bytes, (unsigned long long)bytes_limit);
        }
    }
}

static void let_some_go(void)
{
    for (unsigned i = 0; i < thread_count; i++) {
        if (stress_chance(&guard_of_gates, 100)) { // parked for a tenth of a second
            (void)sem_post(&gates[i]);
        }
    }
}

static void begin(const stress_options *options)
{
    thread_count = options->thread_count < THREAD_LIMIT ? options->thread_count : THREAD_LIMIT;
    guard_of_gates = (stress_worker){.random = options->seed | 1};
    for (unsigned i = 0; i < thread_count; i++) {
        (void)sem_init(&gates[i], 0, 0);
    }
    kw_tensor_type type = typed_tensor_type();
    const kw_dispatcher_options wanted = {.struct_size = sizeof wanted, .tensor_type = &type};
    kw_error err = KW_ERROR_INIT;
    group = (stress_group){
        .ns = "parked",
        .op_count = OPERATORS,
        .cpu = kernel_parking,
        .autograd = kernel_autograd,
        .never_waits = true,
    };
    if (!stress_expect(kw_dispatcher_create(&wanted, &group.dispatcher, &err),
                       "creating a dispatcher", &err)) {
        stress_give_up("there is no dispatcher");
    }
    stress_group_open(&group);
    // What the last commit replaced, and what it unlinked between newest and pinned tables.
    uint64_t in_flight = UINT64_C(3) * OPERATORS;
    uint64_t snapshots = thread_count - caller_count() + 1; // one is the writer's own
    retired_limit = caller_count() + snapshots * OPERATORS + in_flight;
    kw_statistics now = {.struct_size = sizeof now};
    kw_statistics_get(&now);
    bytes_limit = now.memory_bytes + retired_limit * BYTES_OF_TABLE;
}

static void end(void)
{
    stress_stop();
    for (unsigned i = 0; i < thread_count; i++) {
        (void)sem_post(&gates[i]);
    }
    stress_workers_stop();
    kw_error err = KW_ERROR_INIT;
    stress_group_close(&group);
    (void)stress_expect(kw_reclaim(), "reclaiming", &err);
    (void)stress_expect(kw_dispatcher_destroy(group.dispatcher, &err), "destroying the dispatcher",
                        &err);
    if (stress_subject_alive_count() != 0) {
        stress_violation("leak", "%llu user data are not destroyed",
                         (unsigned long long)stress_subject_alive_count());
    }
    stress_check_end();
}

void stress_parked_run(const stress_options *options)
{
    begin(options);
    kwi_fault_set(options->fault);
    kwi_yield_set(options->delay_one_in);
    stress_workers_start(thread_count, park_thread, NULL, options);
    stress_workers_start(1, write_group, NULL, options);
    stress_watch(let_some_go);
    end();
}
