// Signals: handlers that call, look up and open snapshots, in readers and writers alike.
//
// Layer:   stress
// Threads: some call and some commit; one sends them signals, a clock does too. Short ones are
//          interrupted from their first step on.
// SPDX-License-Identifier: MIT
//
// It imitates a host with a profiler or a watchdog that runs operators in its handlers. Handlers
// do everything that docs/concurrency.md allows, interrupt each other, and find the thread's
// announcements, pin and local sets when they return as they were when they began. What they have
// interrupted looks at the same after each of its own steps.
//
// ThreadSanitizer runs handlers late, at functions that it intercepts, also in a thread that ends:
// so a thread says when they may do something, and there are no short threads.

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <keyway/local.h>
#include <keyway/snapshot.h>

#include "driver/scenario.h"
#include "shared/probe.h"
#include "shared/scene.h"
#include "shared/state.h"

#define OPERATORS 4
#define WRITERS 2 // of the group, and of an operator of its own
#define HANDLERS_LIMIT 3
#define NESTING_LIMIT 22 // deeper than the announcements that a thread's block holds
#define PERIOD_US 1000
#define LATE_BLOCKS 62 // two chunks

// What a thread's handlers know.
typedef struct interrupted {
    volatile sig_atomic_t is_ready; // handlers may do something
    volatile sig_atomic_t handlers; // that run, one inside the other
    uint32_t random;                // theirs
} interrupted;

static _Thread_local interrupted me;
static stress_group group;
static stress_era era;
static kw_shared_snapshot *shared; // of the first generation, for the whole run
static kw_library *own_base;
static uint64_t blocks_limit;

// Handlers ---------------------------------------------------------------------------------------

static uint32_t handler_below(uint32_t limit)
{
    return (uint32_t)((uint64_t)stress_random_step(&me.random) * limit >> 32);
}

// The kernel of a handler's call: another handler comes.
static void raise_inside(stress_probe *probe, const kw_kernel *self, int64_t n)
{
    (void)probe;
    (void)self;
    (void)n;
    if (me.handlers < HANDLERS_LIMIT && handler_below(4) == 0) {
        (void)raise(SIGUSR2);
    }
}

static uint64_t call_in_handler(void)
{
    stress_probe probe = {.inside = raise_inside};
    stress_count_add(STRESS_SIGNAL_CALL);
    return stress_probe_call(&probe, &group, handler_below(OPERATORS),
                             handler_below(STRESS_WAY_LIMIT), 0);
}

static void find_in_handler(void)
{
    const kw_operator *op = NULL;
    kw_status status =
        kw_operator_find_typed(group.dispatcher, "signals::op1", TYPED_SIGNATURE, &op, NULL);
    if (status != KW_OK || op != group.ops[1]) {
        stress_violation("answer", "a look-up in a handler answers %s", kw_status_name(status));
    }
    stress_count_add(STRESS_FIND);
}

static void close_in_handler(kw_snapshot *snapshot)
{
    kw_error err = KW_ERROR_INIT;
    uint64_t one = call_in_handler();
    uint64_t other = call_in_handler();
    if (one != other) {
        stress_violation("transaction", "a snapshot in a handler shows generations %llu and %llu",
                         (unsigned long long)one, (unsigned long long)other);
    }
    (void)stress_expect(kw_snapshot_close(snapshot), "closing a snapshot in a handler", &err);
}

static void open_in_handler(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_snapshot snapshot;
    // Relaxed: the thread's own word.
    uint64_t pinned = kwi_u64_load_relaxed(&kwi_thread_self->pinned);
    (void)stress_expect(kw_snapshot_open(&snapshot), "opening a snapshot in a handler", &err);
    stress_count_add(STRESS_SNAPSHOT);
    if (pinned != KWI_NOT_PINNED && snapshot.version != pinned) {
        stress_violation("version", "a handler's snapshot inside one of version %llu is of %llu",
                         (unsigned long long)pinned, (unsigned long long)snapshot.version);
    }
    close_in_handler(&snapshot);
}

static void enter_in_handler(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_snapshot snapshot;
    kw_status status = kw_shared_snapshot_enter(shared, &snapshot);
    if (status == KW_OTHER_VERSION) {
        return; // what is interrupted is under a snapshot of its own
    }
    (void)stress_expect(status, "entering a snapshot in a handler", &err);
    if (stress_probe_once(&group, 0, STRESS_WAY_TYPED) != 1) {
        stress_violation("answer", "a shared snapshot shows another generation than its own");
    }
    stress_count_add(STRESS_ENTER);
    close_in_handler(&snapshot);
}

static void guard_in_handler(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_local_guard guard;
    kw_keyset tracer = kw_keyset_from_key(KW_KEY_Tracer); // falls through
    (void)stress_expect(kw_local_include(tracer, &guard), "a guard in a handler", &err);
    (void)call_in_handler();
    kw_local_restore(&guard);
}

static void handle(int number)
{
    static void (*const actions[])(void) = {find_in_handler, open_in_handler, enter_in_handler,
                                            guard_in_handler};
    (void)number;
    if (!me.is_ready || me.handlers == HANDLERS_LIMIT) {
        return;
    }
    int saved_errno = errno;
    me.handlers = me.handlers + 1;
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_thread_attach(), "attaching in a handler", &err);
    const stress_state_of_thread before = stress_state_look();
    uint32_t dice = handler_below(8);
    if (dice < sizeof actions / sizeof *actions) {
        actions[dice]();
    } else {
        (void)call_in_handler();
    }
    stress_state_check(&before, "a handler");
    stress_count_add(STRESS_HANDLER);
    me.handlers = me.handlers - 1;
    errno = saved_errno;
}

static void become_ready(uint32_t random)
{
    me = (interrupted){.random = random | 1};
    me.is_ready = 1;
}

// What is interrupted ----------------------------------------------------------------------------

static void be_inside(stress_probe *probe, const kw_kernel *self, int64_t n)
{
    stress_worker *worker = probe->context;
    const stress_state_of_thread before = stress_state_look();
    (void)self;
    if (stress_chance(worker, 64)) {
        (void)raise(SIGUSR1);
    }
    for (volatile uint32_t i = stress_random(worker, 200); i > 0; i--) {
    }
    if (n > 0) {
        stress_probe deeper = {.inside = be_inside, .context = worker};
        stress_count_add(STRESS_NESTED_CALL);
        (void)stress_probe_call(&deeper, &group, stress_random(worker, OPERATORS),
                                stress_random(worker, STRESS_WAY_LIMIT), n - 1);
    }
    stress_state_check(&before, "a kernel that is interrupted");
}

static uint64_t call_any(stress_worker *worker, int64_t n)
{
    stress_probe probe = {.inside = be_inside, .context = worker};
    return stress_probe_call(&probe, &group, stress_random(worker, OPERATORS),
                             stress_random(worker, STRESS_WAY_LIMIT), n);
}

static void read_under_snapshot(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    kw_snapshot snapshot;
    (void)stress_expect(kw_snapshot_open(&snapshot), "opening a snapshot", &err);
    stress_count_add(STRESS_SNAPSHOT);
    uint64_t first = call_any(worker, 0);
    for (unsigned i = 0; i < OPERATORS; i++) {
        uint64_t other = call_any(worker, stress_chance(worker, 4) ? 2 : 0);
        if (other != first) {
            stress_violation("transaction", "a snapshot shows generations %llu and %llu",
                             (unsigned long long)first, (unsigned long long)other);
        }
    }
    (void)stress_expect(kw_snapshot_close(&snapshot), "closing a snapshot", &err);
}

static void read_under_guard(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    kw_local_guard guard;
    kw_keyset tracer = kw_keyset_from_key(KW_KEY_Tracer);
    (void)stress_expect(kw_local_exclude(tracer, &guard), "a guard", &err);
    (void)call_any(worker, 0);
    if (!kw_local_is_excluded(KW_KEY_Tracer)) {
        stress_violation("state", "a guard does not last to its end");
    }
    kw_local_restore(&guard);
}

static void read_interrupted(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_thread_attach(), "attaching", &err);
    become_ready(worker->random);
    while (stress_goes_on()) {
        const stress_state_of_thread before = stress_state_look();
        uint32_t dice = stress_random(worker, 16);
        if (dice == 0) {
            read_under_snapshot(worker);
        } else if (dice == 1) {
            read_under_guard(worker);
        } else {
            (void)call_any(worker, stress_chance(worker, 64)  ? NESTING_LIMIT
                                   : stress_chance(worker, 4) ? 1 + stress_random(worker, 3)
                                                              : 0);
        }
        stress_state_check(&before, "a call that is interrupted");
        stress_scene_rest(worker);
    }
    me.is_ready = 0;
}

static void write_own(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    kw_library *library = stress_library_open(group.dispatcher, "own");
    kw_registration registration = 0;
    const kw_kernel_descriptor kernel = KW_UNBOXED(TYPED_SIGNATURE, stress_probe_cpu);
    (void)stress_expect(
        kw_library_impl(library, "own::f", KW_KEY_CPU, &kernel, &registration, &err),
        "registering while interrupted", &err);
    if (stress_chance(worker, 2)) {
        (void)stress_expect(kw_library_remove(library, registration, &err),
                            "removing while interrupted", &err);
    }
    stress_count_add(STRESS_COMMIT);
    stress_library_end(library);
}

static void write_interrupted(stress_worker *worker)
{
    become_ready(worker->random);
    while (stress_goes_on()) {
        const stress_state_of_thread before = stress_state_look();
        if (worker->index == 0) {
            stress_group_commit(&group, worker);
        } else {
            write_own(worker);
        }
        (void)stress_sample();
        stress_state_check(&before, "a commit that is interrupted");
    }
    me.is_ready = 0;
}

// Short threads ----------------------------------------------------------------------------------

// Its handlers attach it if they come first. They call no more when it ends: liburcu-bp then has a
// mutex for a moment in which signals come through, which a call of an ended reader needs.
static void *end_interrupted(void *context)
{
    stress_worker *worker = context;
    kw_error err = KW_ERROR_INIT;
    become_ready(stress_random_step(&worker->random));
    (void)stress_expect(kw_thread_attach(), "attaching", &err);
    (void)stress_probe_once(&group, 0, STRESS_WAY_LAYERED);
    me.is_ready = 0;
    return NULL;
}

static void start_and_interrupt(stress_worker *worker)
{
    pthread_t thread;
    while (stress_goes_on()) {
        if (pthread_create(&thread, NULL, end_interrupted, worker) != 0) {
            stress_give_up("a short thread cannot be started");
        }
        for (int i = 0; i < 3; i++) {
            (void)pthread_kill(thread, SIGUSR1);
        }
        (void)pthread_join(thread, NULL);
        stress_count_add(STRESS_THREAD);
        kw_statistics now = {.struct_size = sizeof now};
        kw_statistics_get(&now);
        if (now.thread_blocks > blocks_limit) {
            stress_violation("memory", "%llu blocks are mapped; the threads explain %llu",
                             (unsigned long long)now.thread_blocks,
                             (unsigned long long)blocks_limit);
        }
    }
}

// The run ----------------------------------------------------------------------------------------

static void send(stress_worker *worker)
{
    while (stress_goes_on()) {
        int number = stress_chance(worker, 2) ? SIGUSR1 : SIGUSR2;
        stress_workers_signal(stress_chance(worker, 4) ? write_interrupted : read_interrupted,
                              number);
        const struct timespec pause = {.tv_nsec = (long)stress_random(worker, 200000)};
        (void)nanosleep(&pause, NULL);
    }
}

static void set_handlers(void)
{
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART | SA_NODEFER};
    (void)sigaction(SIGUSR1, &action, NULL);
    (void)sigaction(SIGUSR2, &action, NULL);
    (void)sigaction(SIGPROF, &action, NULL);
}

// By the processor time that is used, so that it strikes whoever runs.
static void set_clock(suseconds_t period_us)
{
    const struct itimerval period = {{0, period_us}, {0, period_us}};
    (void)setitimer(ITIMER_PROF, &period, NULL);
}

static void begin(void)
{
    kw_error err = KW_ERROR_INIT;
    era = (stress_era){0};
    group = stress_probe_group("signals", OPERATORS, &era);
    group.never_waits = true; // the shared snapshot holds the first generation
    stress_group_open(&group);
    const kw_kernel_descriptor fallthrough = KW_FALLTHROUGH();
    (void)stress_expect(kw_library_fallback(group.base, KW_KEY_Tracer, &fallthrough, NULL, &err),
                        "registering a fallthrough", &err);
    own_base = stress_library_open(group.dispatcher, "own base");
    const kw_definition definition = KW_DEFINE("own::f(Tensor x, int n) -> int");
    (void)stress_expect(kw_library_define(own_base, &definition, NULL, &err),
                        "defining an operator", &err);
    (void)stress_expect(kw_shared_snapshot_create(&shared, &err), "sharing", &err);
}

static void watch(void)
{
}

void stress_signals_run(const stress_options *options)
{
    begin();
    kw_statistics now = {.struct_size = sizeof now};
    kw_statistics_get(&now);
    blocks_limit = now.thread_blocks + options->thread_count + WRITERS + LATE_BLOCKS;
    set_handlers();
    stress_scene_arm(options);
    stress_workers_start(options->thread_count, read_interrupted, NULL, options);
    stress_workers_start(WRITERS, write_interrupted, NULL, options);
    if (!STRESS_TSAN) {
        stress_workers_start(1, start_and_interrupt, NULL, options);
    }
    stress_workers_start(1, send, NULL, options);
    set_clock(PERIOD_US);
    stress_watch(watch);
    set_clock(0);
    stress_workers_stop();
    kw_shared_snapshot_release(shared);
    stress_library_end(own_base);
    stress_group_close(&group);
    stress_scene_end(group.dispatcher);
}
