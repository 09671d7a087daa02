// A clock that interrupts whoever runs, a thousand times a second: callers, the writer, threads
// that attach, open snapshots and set guards.
//
// Layer:   test
// Threads: some of each sort; handlers run on all of them.
// SPDX-License-Identifier: MIT
//
// Note [Signals under ThreadSanitizer] in signals.c says why threads end there without signals.

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

#include <keyway/local.h>
#include <keyway/snapshot.h>

#include "base/memory.h"
#include "concurrency/fixture.h"

enum {
    CALLERS = 2,
    SNAPSHOTS = 2,
    COMMITS = SCALED(3000),
    SHORT_THREADS = SCALED(1500),
    ALT_STACK_BYTES = 65536
};

static const kw_operator *f;
static const kw_operator *g;
static kw_library *base;
static atomic_ulong handled_count;

static int64_t result_of(const kw_operator *op)
{
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = -1;
    kw_status status = typed_call(op, &x, 0, &result);
    CHECK(status == KW_OK, "a call answers %s", kw_status_name(status));
    return result;
}

// Two operators whose kernels are of one commit, as a snapshot has to show them.
static void check_snapshot(void)
{
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    int64_t one = result_of(f);
    int64_t other = result_of(g);
    CHECK(one == other, "a snapshot shows %lld and %lld", (long long)one, (long long)other);
    MUST(kw_snapshot_close(&snapshot));
}

static void check_guard(void)
{
    kw_local_guard guard;
    MUST(kw_local_include(keys_of(KW_KEY_Tracer), &guard)); // falls through
    (void)result_of(f);
    kw_local_restore(&guard);
    kw_local_state state = kw_local_capture();
    CHECK(!kw_keyset_has(state.included, KW_KEY_Tracer), "a guard is not taken back");
}

// Everything that a handler may do; all of it is given back before it returns.
static void handle(int number)
{
    (void)number;
    int saved_errno = errno;
    (void)result_of(f);
    check_snapshot();
    kw_local_guard guard;
    MUST(kw_local_include(keys_of(KW_KEY_Tracer), &guard));
    (void)result_of(g);
    kw_local_restore(&guard);
    atomic_fetch_add_explicit(&handled_count, 1, memory_order_relaxed);
    errno = saved_errno;
}

static void begin(void)
{
    base = library_open("base");
    library_define(base, "t::f(Tensor x, int n) -> int");
    library_define(base, "t::g(Tensor x, int n) -> int");
    (void)library_impl(base, "t::f", KW_KEY_CPU, kernel_add, 1);
    (void)library_impl(base, "t::g", KW_KEY_CPU, kernel_add, 1);
    const kw_kernel_descriptor fallthrough = KW_FALLTHROUGH();
    MUST(kw_library_fallback(base, KW_KEY_Tracer, &fallthrough, NULL, &err));
    f = operator_find("t::f");
    g = operator_find("t::g");
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART | SA_ONSTACK};
    (void)sigaction(SIGALRM, &action, NULL);
    (void)sigaction(SIGUSR1, &action, NULL);
    atomic_store(&handled_count, 0);
}

static void set_clock(suseconds_t period_us)
{
    const struct itimerval period = {{0, period_us}, {0, period_us}};
    (void)setitimer(ITIMER_REAL, &period, NULL);
}

// Covers both kernels in one commit, and uncovers them.
static void cover_once(int64_t value)
{
    kw_library *over = library_open("over");
    kw_transaction *tx = NULL;
    MUST(kw_transaction_begin(fixture_dispatcher, &tx, &err));
    kw_kernel_descriptor of_f = kernel_describe(kernel_add, value);
    kw_kernel_descriptor of_g = kernel_describe(kernel_add, value);
    MUST(kw_transaction_impl(tx, over, "t::f", KW_KEY_CPU, &of_f, NULL, &err));
    MUST(kw_transaction_impl(tx, over, "t::g", KW_KEY_CPU, &of_g, NULL, &err));
    MUST(kw_transaction_commit(tx, NULL, NULL, &err));
    library_end(over);
}

static void call_often(crew *team, unsigned index)
{
    (void)index;
    while (crew_goes_on(team)) {
        for (int i = 0; i < 64; i++) {
            (void)result_of(f);
        }
    }
}

static void open_and_close(crew *team, unsigned index)
{
    while (crew_goes_on(team)) {
        if (index % 2 == 0) {
            check_snapshot();
        } else {
            check_guard();
        }
    }
}

// The writer is interrupted too, in the middle of its commits.
static void a_clock_interrupts_everybody(void)
{
    begin();
    crew callers;
    crew openers;
    crew_start(&callers, CALLERS, call_often, NULL);
    crew_start(&openers, SNAPSHOTS, open_and_close, NULL);
    set_clock(1000);
    for (int i = 0; fixture_goes_on(i, COMMITS); i++) {
        cover_once(2 + i % 3);
    }
    set_clock(0);
    crew_stop(&openers);
    crew_stop(&callers);
    CHECK(atomic_load(&handled_count) > 0, "the clock stands still");
    CHECK(fixture_statistics().forced_cleanups == 0, "handlers leave something behind");
    library_end(base);
}

// One thread at full rate: each step of opening and closing is interrupted some time.

static void interrupt_often(crew *team, unsigned index)
{
    (void)index;
    crew *victims = team->context;
    while (crew_goes_on(team)) {
        for (unsigned i = 0; i < victims->count; i++) {
            (void)pthread_kill(victims->threads[i], SIGUSR1);
        }
    }
}

static void opening_and_closing_may_be_interrupted(void)
{
    begin();
    crew openers;
    crew sender;
    crew_start(&openers, 2, open_and_close, NULL);
    crew_start(&sender, 1, interrupt_often, &openers);
    for (int i = 0; fixture_goes_on(i, COMMITS); i++) {
        cover_once(2 + i % 3);
    }
    crew_stop(&sender);
    crew_stop(&openers);
    CHECK(fixture_statistics().forced_cleanups == 0, "handlers leave something behind");
    library_end(base);
}

// Threads that attach while the clock strikes, on stacks of their own for signals. They block them
// before they end: liburcu-bp then has a mutex for a moment in which signals come through, which a
// handler's call would wait for.

static void block_signals(void)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static void *attach_and_end(void *stack)
{
    const stack_t place = {.ss_sp = stack, .ss_size = ALT_STACK_BYTES};
    const stack_t none = {.ss_flags = SS_DISABLE};
    (void)sigaltstack(&place, NULL);
    check_snapshot();
    check_guard();
    block_signals();
    (void)sigaltstack(&none, NULL);
    return NULL;
}

static void attaching_may_be_interrupted(void)
{
    static char stack[ALT_STACK_BYTES];
    begin();
    uint64_t blocks = fixture_statistics().thread_blocks;
    set_clock(1000);
    for (int i = 0; fixture_goes_on(i, SHORT_THREADS); i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, attach_and_end, stack) == 0, "no thread");
        (void)pthread_kill(thread, SIGUSR1);
        (void)pthread_join(thread, NULL);
    }
    set_clock(0);
    uint64_t now = fixture_statistics().thread_blocks;
    CHECK(now <= blocks + 31, "%llu blocks, then %llu", (unsigned long long)blocks,
          (unsigned long long)now);
    CHECK(fixture_statistics().forced_cleanups == 0, "handlers leave something behind");
    library_end(base);
}

// The first call of a thread, made by a handler, takes nothing from the heap.

static atomic_bool has_called;

static void call_without_memory(int number)
{
    (void)number;
    kwi_memory_fail_at(1, true);
    uint64_t count = kwi_memory_count();
    (void)result_of(f);
    CHECK(kwi_memory_count() == count, "a handler's first call allocates");
    kwi_memory_fail_at(0, false);
    atomic_store(&has_called, true);
}

static void *wait_for_handler(void *unused)
{
    while (!atomic_load(&has_called)) {
        (void)sched_yield();
    }
    return unused;
}

static void a_handler_s_first_call_needs_no_heap(void)
{
    begin();
    const struct sigaction action = {.sa_handler = call_without_memory, .sa_flags = SA_RESTART};
    (void)sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < 40; i++) {
        pthread_t thread;
        atomic_store(&has_called, false);
        CHECK(pthread_create(&thread, NULL, wait_for_handler, NULL) == 0, "no thread");
        (void)pthread_kill(thread, SIGUSR2);
        (void)pthread_join(thread, NULL);
    }
    library_end(base);
}

int main(void)
{
    fixture_begin();
    RUN(a_clock_interrupts_everybody);
    RUN(opening_and_closing_may_be_interrupted);
    RUN(a_handler_s_first_call_needs_no_heap);
    if (!FIXTURE_TSAN) {
        RUN(attaching_may_be_interrupted);
    }
    return fixture_end();
}
