// Churn: threads come and go by the thousand, in every way, while a writer commits.
//
// Layer:   stress
// Threads: some start short ones, a few at a time, and join them; one writes.
// SPDX-License-Identifier: MIT
//
// It imitates a host with a thread for each request, some of which are cancelled or leave in the
// middle of a kernel. The blocks of ended threads must be used again, what they had announced and
// pinned must be given back, each forced end must be counted once, and told at most once.

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <keyway/local.h>
#include <keyway/snapshot.h>

#include "driver/scenario.h"
#include "shared/probe.h"
#include "shared/scene.h"
#include "shared/subject.h"

#define OPERATORS 4
#define AT_A_TIME 4 // visitors of one spawner
#define ALONE 10    // visitors that end inside when nobody else does, fewer than reports can wait
#define BLOCKS_OF_CHUNK 31
#define LATE_ROUNDS (STRESS_TSAN ? 2 : 4) // it ends its own view of a thread before the last

typedef enum arrival {
    BY_CALL,
    BY_ATTACH,
    BY_SNAPSHOT,
    BY_SHARED_SNAPSHOT,
    BY_GUARD,
    ARRIVAL_LIMIT
} arrival;

typedef enum departure {
    RETURNS,
    EXITS,
    IS_CANCELLED,
    IS_CANCELLED_COMMITTING,
    EXITS_INSIDE, // from here on the end is forced
    EXITS_UNDER_SNAPSHOT,
    IS_CANCELLED_INSIDE,
    DEPARTURE_LIMIT
} departure;

typedef struct visitor {
    pthread_t thread;
    uint32_t random;
    arrival arrives;
    departure departs;
    unsigned depth;      // of the call that it leaves
    unsigned late_calls; // that its thread-specific destructor makes
    kw_shared_snapshot *shared;
    kw_library *library; // of its spawner, for who registers
    sem_t waits;         // posted when it may be cancelled
} visitor;

static stress_group group;
static stress_era era;
static pthread_key_t late_key; // made after the library's, so its destructor runs after
static _Atomic uint64_t forced_count;
static _Atomic uint64_t told_count;
static uint64_t blocks_limit;

// Visitors ---------------------------------------------------------------------------------------

static uint32_t below(visitor *self, uint32_t limit)
{
    return (uint32_t)((uint64_t)stress_random_step(&self->random) * limit >> 32);
}

static uint64_t visit(visitor *self)
{
    return stress_probe_once(&group, below(self, OPERATORS), below(self, STRESS_WAY_LIMIT));
}

// Note [Cancellation under sanitizers]
//
// A thread that is cancelled in a function which ThreadSanitizer intercepts stays marked as being
// inside it, and its later atomics order nothing. AddressSanitizer does not see that the frames
// above a cancellation point are left, and finds their red zones under the destructors. So there
// is one place where threads are cancelled, which neither takes for a call.
static void may_be_cancelled(void)
{
#if defined(__SANITIZE_ADDRESS__)
    __asan_handle_no_return();
#endif
    pthread_testcancel();
}

static void wait_for_cancellation(visitor *self)
{
    (void)sem_post(&self->waits);
    for (;;) {
        may_be_cancelled();
        (void)sched_yield();
    }
}

// In the innermost call of one that does not return from it.
static void leave_inside(stress_probe *probe, const kw_kernel *self, int64_t n)
{
    visitor *me = probe->context;
    (void)self;
    if (n > 0) {
        stress_probe deeper = {.inside = leave_inside, .context = me};
        stress_count_add(STRESS_NESTED_CALL);
        (void)stress_probe_call(&deeper, &group, below(me, OPERATORS), below(me, STRESS_WAY_LIMIT),
                                n - 1);
    } else if (me->departs == IS_CANCELLED_INSIDE) {
        wait_for_cancellation(me);
    }
    pthread_exit(NULL);
}

static void check_one_generation(visitor *self)
{
    uint64_t first = stress_probe_once(&group, 0, STRESS_WAY_TYPED);
    for (unsigned i = 1; i < OPERATORS; i++) {
        uint64_t other = stress_probe_once(&group, i, below(self, STRESS_WAY_LIMIT));
        if (other != first) {
            stress_violation("transaction", "a snapshot shows generations %llu and %llu",
                             (unsigned long long)first, (unsigned long long)other);
        }
    }
}

static void arrive_under_snapshot(visitor *self)
{
    kw_error err = KW_ERROR_INIT;
    kw_snapshot snapshot;
    bool is_shared = self->arrives == BY_SHARED_SNAPSHOT && self->shared != NULL;
    kw_status status =
        is_shared ? kw_shared_snapshot_enter(self->shared, &snapshot) : kw_snapshot_open(&snapshot);
    (void)stress_expect(status, "a snapshot as a thread's first step", &err);
    check_one_generation(self);
    (void)stress_expect(kw_snapshot_close(&snapshot), "closing a snapshot", &err);
    stress_count_add(is_shared ? STRESS_ENTER : STRESS_SNAPSHOT);
}

static void arrive_with_guard(visitor *self)
{
    kw_error err = KW_ERROR_INIT;
    kw_local_guard guard;
    kw_keyset autograd = kw_keyset_from_key(KW_KEY_AutogradCPU);
    (void)stress_expect(kw_local_exclude(autograd, &guard), "a guard as a thread's first step",
                        &err);
    (void)stress_probe_once(&group, below(self, OPERATORS), STRESS_WAY_TYPED);
    kw_local_restore(&guard);
    if (kw_local_capture().excluded.bits != kw_local_default().excluded.bits) {
        stress_violation("state", "a guard is not taken back");
    }
}

static void arrive(visitor *self)
{
    kw_error err = KW_ERROR_INIT;
    switch (self->arrives) {
    case BY_ATTACH:
        (void)stress_expect(kw_thread_attach(), "attaching", &err);
        break;
    case BY_SNAPSHOT:
    case BY_SHARED_SNAPSHOT:
        arrive_under_snapshot(self);
        break;
    case BY_GUARD:
        arrive_with_guard(self);
        break;
    case BY_CALL:
    case ARRIVAL_LIMIT:
        (void)visit(self);
        break;
    }
}

// Covers one kernel after the other until it is cancelled, which each commit puts off.
static void register_until_cancelled(visitor *self)
{
    kw_error err = KW_ERROR_INIT;
    (void)sem_post(&self->waits);
    for (;;) {
        kw_kernel_descriptor kernel = KW_UNBOXED(TYPED_SIGNATURE, stress_probe_cpu);
        kernel.user_data = stress_subject_create(stress_subject_fresh_id());
        kernel.destroy = stress_subject_destroy;
        (void)stress_expect(
            kw_library_impl(self->library, "visitors::own", KW_KEY_CPU, &kernel, NULL, &err),
            "registering until cancelled", &err);
        stress_count_add(STRESS_COMMIT);
        may_be_cancelled();
    }
}

static void depart(visitor *self)
{
    kw_error err = KW_ERROR_INIT;
    kw_snapshot snapshot;
    stress_probe probe = {.inside = leave_inside, .context = self};
    switch (self->departs) {
    case EXITS:
        pthread_exit(NULL);
    case IS_CANCELLED:
        wait_for_cancellation(self);
        break;
    case IS_CANCELLED_COMMITTING:
        register_until_cancelled(self);
        break;
    case EXITS_UNDER_SNAPSHOT:
        (void)stress_expect(kw_snapshot_open(&snapshot), "opening a snapshot", &err);
        (void)visit(self);
        pthread_exit(NULL);
    case EXITS_INSIDE:
    case IS_CANCELLED_INSIDE:
        (void)stress_probe_call(&probe, &group, below(self, OPERATORS),
                                below(self, STRESS_WAY_LIMIT), self->depth);
        stress_violation("state", "a call returns from a kernel that ends its thread");
        break;
    case RETURNS:
    case DEPARTURE_LIMIT:
        break;
    }
}

static void *visitor_main(void *argument)
{
    visitor *self = argument;
    if (self->late_calls > 0) {
        (void)pthread_setspecific(late_key, self);
    }
    arrive(self);
    for (uint32_t i = below(self, 6); i > 0; i--) {
        (void)visit(self);
    }
    depart(self);
    return NULL;
}

// The library's own destructor has given the thread's block back; the call takes another.
static void call_late(void *argument)
{
    visitor *self = argument;
    (void)visit(self);
    stress_count_add(STRESS_LATE_CALL);
    if (--self->late_calls > 0) {
        (void)pthread_setspecific(late_key, self);
    }
}

// Spawners ---------------------------------------------------------------------------------------

static bool is_cancelled(const visitor *self)
{
    return self->departs == IS_CANCELLED || self->departs == IS_CANCELLED_INSIDE ||
           self->departs == IS_CANCELLED_COMMITTING;
}

static void start(visitor *self)
{
    (void)sem_init(&self->waits, 0, 0);
    if (self->departs >= EXITS_INSIDE) {
        atomic_fetch_add_explicit(&forced_count, 1, memory_order_relaxed);
        stress_count_add(STRESS_FORCED_END);
    }
    if (pthread_create(&self->thread, NULL, visitor_main, self) != 0) {
        stress_give_up("a short thread cannot be started");
    }
    stress_count_add(STRESS_THREAD);
}

static void end(visitor *self)
{
    if (is_cancelled(self)) {
        while (sem_wait(&self->waits) != 0 && errno == EINTR) {
        }
        (void)pthread_cancel(self->thread);
    }
    (void)pthread_join(self->thread, NULL);
    (void)sem_destroy(&self->waits);
}

static departure choose_departure(stress_worker *worker)
{
    return stress_chance(worker, 2) ? RETURNS : (departure)stress_random(worker, DEPARTURE_LIMIT);
}

static visitor choose(stress_worker *worker, kw_shared_snapshot *shared, kw_library *library)
{
    // A thread that is called to its very last destructor leaves a record in liburcu-bp for good.
    unsigned rounds = stress_chance(worker, 2000) ? LATE_ROUNDS : 2;
    return (visitor){
        .random = stress_random_step(&worker->random) | 1,
        .arrives = (arrival)stress_random(worker, ARRIVAL_LIMIT),
        .departs = choose_departure(worker),
        .depth = stress_random(worker, stress_chance(worker, 16) ? 40 : 4),
        .late_calls = stress_chance(worker, 2) ? stress_random(worker, rounds + 1) : 0,
        .shared = shared,
        .library = library,
    };
}

static void spawn(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    kw_library *library = stress_library_open(group.dispatcher, "visitors");
    while (stress_goes_on()) {
        visitor visitors[AT_A_TIME];
        kw_shared_snapshot *shared = NULL;
        if (stress_chance(worker, 4)) {
            (void)stress_expect(kw_shared_snapshot_create(&shared, &err), "sharing", &err);
            stress_count_add(STRESS_SHARE);
        }
        for (unsigned i = 0; i < AT_A_TIME; i++) {
            visitors[i] = choose(worker, shared, library);
            start(&visitors[i]);
        }
        for (unsigned i = 0; i < AT_A_TIME; i++) {
            end(&visitors[i]);
        }
        kw_shared_snapshot_release(shared);
        if (stress_chance(worker, 16)) { // before too many kernels cover each other
            stress_library_end(library);
            library = stress_library_open(group.dispatcher, "visitors");
        }
    }
    stress_library_end(library);
}

// The writer -------------------------------------------------------------------------------------

static kw_statistics figures(void)
{
    kw_statistics now = {.struct_size = sizeof now};
    kw_statistics_get(&now);
    return now;
}

static void write_group(stress_worker *worker)
{
    while (stress_goes_on()) {
        stress_group_commit(&group, worker);
        (void)stress_sample();
        kw_statistics now = figures();
        if (now.thread_blocks > blocks_limit) {
            stress_violation("memory", "%llu blocks are mapped; the threads explain %llu",
                             (unsigned long long)now.thread_blocks,
                             (unsigned long long)blocks_limit);
        }
    }
}

static void hear(const kw_event *event, void *context)
{
    (void)context;
    if (event->kind == KW_EVENT_FORCED_CLEANUP) {
        atomic_fetch_add_explicit(&told_count, 1, memory_order_relaxed);
        stress_count_add(STRESS_FORCED_TOLD);
    }
}

// The end ----------------------------------------------------------------------------------------

// Fewer reports than places: each of them is told.
static void check_telling(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_reclaim(), "reclaiming", &err);
    uint64_t before = atomic_load(&told_count);
    for (unsigned i = 0; i < ALONE; i++) {
        visitor last = choose(worker, NULL, NULL);
        last.departs = i % 2 == 0 ? EXITS_INSIDE : EXITS_UNDER_SNAPSHOT;
        start(&last);
        end(&last);
    }
    (void)stress_expect(kw_reclaim(), "reclaiming", &err);
    uint64_t told = atomic_load(&told_count) - before;
    if (told != ALONE) {
        stress_violation("event", "%llu forced ends of %d are told", (unsigned long long)told,
                         ALONE);
    }
}

static void check_forced_ends(uint64_t before)
{
    uint64_t wanted = atomic_load(&forced_count);
    uint64_t told = atomic_load(&told_count);
    kw_statistics now = figures();
    if (now.forced_cleanups - before != wanted || told > wanted) {
        stress_violation("event", "%llu threads ended inside, %llu are counted and %llu told",
                         (unsigned long long)wanted,
                         (unsigned long long)(now.forced_cleanups - before),
                         (unsigned long long)told);
    }
    if (now.snapshot_count != 0 || now.shared_snapshot_count != 0 || now.held_table_count != 0) {
        stress_violation("leak", "%llu and %llu shared snapshots stay when all threads have ended",
                         (unsigned long long)now.snapshot_count,
                         (unsigned long long)now.shared_snapshot_count);
    }
    stress_forced_ends_add(wanted);
}

static void watch(void)
{
}

static void open_group(void)
{
    era = (stress_era){0};
    group = stress_probe_group("churn", OPERATORS, &era);
    stress_group_open(&group);
}

void stress_churn_run(const stress_options *options)
{
    kw_error err = KW_ERROR_INIT;
    stress_worker chooser = {.random = options->seed | 1};
    const kw_listener listener = {.struct_size = sizeof listener, .event = hear};
    uint64_t id = 0;
    open_group();
    kw_statistics before = figures();
    atomic_store(&forced_count, 0);
    atomic_store(&told_count, 0);
    blocks_limit = before.thread_blocks + UINT64_C(2) * options->thread_count * (AT_A_TIME + 1) +
                   UINT64_C(2) * BLOCKS_OF_CHUNK;
    if (pthread_key_create(&late_key, call_late) != 0) {
        stress_give_up("there is no thread-specific key");
    }
    (void)stress_expect(kw_dispatcher_listen(group.dispatcher, &listener, &id, &err), "listening",
                        &err);
    stress_scene_arm(options);
    stress_workers_start(options->thread_count, spawn, NULL, options);
    stress_workers_start(1, write_group, NULL, options);
    stress_watch(watch);
    stress_workers_stop();
    check_telling(&chooser);
    check_forced_ends(before.forced_cleanups);
    (void)stress_expect(kw_dispatcher_unlisten(group.dispatcher, id), "unlistening", &err);
    (void)pthread_key_delete(late_key);
    stress_group_close(&group);
    stress_scene_end(group.dispatcher);
}
