// Signal handlers that call the operator their thread is calling, against a writer.
//
// Layer:   test
// Threads: callers that are interrupted, one that sends signals, one that commits.
// SPDX-License-Identifier: MIT

// Note [Signals under ThreadSanitizer]
//
// It keeps a signal back until the thread calls one of the functions it intercepts, and runs the
// handler there even if the thread has blocked the signal meanwhile. So a handler for a thread that
// blocks comes too late, and one for a thread that ends would run while liburcu holds its own lock
// with all signals blocked. The tests let no signal be pending at such places.

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>

#include "concurrency/fixture.h"

enum {
    CALLERS = 4,
    COMMITS = SCALED(6000)
};

static const kw_operator *op;
static atomic_ulong handled_count;
static atomic_ulong nested_count; // signals that came while the thread was inside a call
static _Thread_local volatile sig_atomic_t is_inside;
static sem_t handled;

// Answers what its subject says before and after whatever interrupts it.
static kw_status kernel_long(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                             int64_t *out_0)
{
    is_inside = is_inside + 1;
    int64_t before = subject_value(self);
    (void)sched_yield(); // a signal comes as soon as the thread runs again
    kw_status status = kernel_add(self, keys, x, n, out_0);
    CHECK(*out_0 == n + before, "the kernel changes under the call");
    is_inside = is_inside - 1;
    return status;
}

static void call_and_check(void)
{
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = 0;
    kw_status status = typed_call(op, &x, 1, &result);
    CHECK(status == KW_OK && (result == 3 || result == 4), "a call answers %s, %lld",
          kw_status_name(status), (long long)result);
}

static void handle(int number)
{
    (void)number;
    int saved_errno = errno;
    if (is_inside > 0) {
        atomic_fetch_add_explicit(&nested_count, 1, memory_order_relaxed);
    }
    call_and_check();
    atomic_fetch_add_explicit(&handled_count, 1, memory_order_relaxed);
    (void)sem_post(&handled);
    errno = saved_errno;
}

static void call_often(crew *team, unsigned index)
{
    (void)index;
    while (crew_goes_on(team)) {
        for (int i = 0; i < 16; i++) {
            call_and_check();
        }
    }
    (void)sem_trywait(&handled); // see Note [Signals under ThreadSanitizer]
}

// Interrupts every caller in turn until it is told to stop.
static void interrupt_often(crew *team, unsigned index)
{
    (void)index;
    crew *callers = team->context;
    while (crew_goes_on(team)) {
        for (unsigned i = 0; i < CALLERS; i++) {
            (void)pthread_kill(callers->threads[i], SIGUSR1);
        }
    }
}

static kw_library *begin(void)
{
    (void)sem_init(&handled, 0, 0);
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    (void)sigaction(SIGUSR1, &action, NULL);
    kw_library *base = library_open("base");
    library_define(base, "t::f(Tensor x, int n) -> int");
    (void)library_impl(base, "t::f", KW_KEY_CPU, kernel_long, 2);
    op = operator_find("t::f");
    return base;
}

// Whether a handler has called and, unless signals are kept back, inside a call.
static bool was_nested(void)
{
    return atomic_load(&handled_count) > 0 && (FIXTURE_TSAN || atomic_load(&nested_count) > 0);
}

static void handlers_call_while_their_thread_is_inside_calls(void)
{
    kw_library *base = begin();
    crew callers;
    crew_start(&callers, CALLERS, call_often, NULL);
    crew sender;
    crew_start(&sender, 1, interrupt_often, &callers);
    for (int i = 0; fixture_goes_on(i, COMMITS) || !was_nested(); i++) {
        kw_library *over = library_open("over");
        (void)library_impl(over, "t::f", KW_KEY_CPU, kernel_long, 3);
        library_end(over);
    }
    crew_stop(&sender);
    crew_stop(&callers);
    library_end(base);
}

// A handler's call comes and goes inside a call, which stays announced.

static sem_t entered;
static sem_t leave;

static kw_status kernel_interrupted(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                    int64_t *out_0)
{
    if (is_inside == 0) {
        is_inside = 1;
        (void)raise(SIGUSR1); // returns after the handler, which calls this kernel too
        is_inside = 0;
        (void)sem_post(&entered);
        (void)sem_wait(&leave);
    }
    return kernel_add(self, keys, x, n, out_0);
}

static void call_interrupted(crew *team, unsigned index)
{
    (void)team;
    (void)index;
    call_and_check();
}

static void a_call_stays_protected_after_a_handler_s_call(void)
{
    (void)sem_init(&entered, 0, 0);
    (void)sem_init(&leave, 0, 0);
    kw_library *base = begin();
    kw_library *over = library_open("over");
    (void)library_impl(over, "t::f", KW_KEY_CPU, kernel_interrupted, 3);
    unsigned long before = atomic_load(&nested_count);
    crew team;
    crew_start(&team, 1, call_interrupted, NULL);
    (void)sem_wait(&entered);
    CHECK(atomic_load(&nested_count) == before + 1, "the handler did not call inside the call");
    MUST(kw_library_close(over, &err));
    CHECK(kw_library_drain(over, 0, NULL) == KW_BUSY, "the handler's call ends the outer one");
    CHECK(subject_alive_count() == 2, "the interrupted kernel's user data is destroyed");
    (void)sem_post(&leave);
    crew_join(&team);
    library_end(over);
    library_end(base);
}

// A thread whose first call is made by a handler.

static sem_t is_idle;
static sem_t may_end;

static void wait_idle(crew *team, unsigned index)
{
    (void)team;
    (void)index;
    (void)sem_post(&is_idle);
    // Not sem_wait(): see Note [Signals under ThreadSanitizer].
    while (sem_trywait(&may_end) != 0) {
        (void)sched_yield();
    }
}

static void a_handler_makes_the_first_call_of_its_thread(void)
{
    (void)sem_init(&is_idle, 0, 0);
    (void)sem_init(&may_end, 0, 0);
    kw_library *base = begin();
    for (int i = 0; fixture_goes_on(i, SCALED(1000)); i++) {
        crew team;
        crew_start(&team, 1, wait_idle, NULL);
        (void)sem_wait(&is_idle);
        (void)pthread_kill(team.threads[0], SIGUSR1);
        (void)sem_wait(&handled);
        kw_library *over = library_open("over");
        (void)library_impl(over, "t::f", KW_KEY_CPU, kernel_long, 3);
        library_end(over); // the thread is known now, and holds nothing
        (void)sem_post(&may_end);
        crew_join(&team);
    }
    CHECK(fixture_statistics().forced_cleanups == 0, "handlers leave calls behind");
    library_end(base);
}

// First calls and handlers race on the same new thread.

static void call_first(crew *team, unsigned index)
{
    (void)team;
    (void)index;
    call_and_check();
}

static void a_handler_and_its_thread_race_for_the_first_call(void)
{
    kw_library *base = begin();
    for (int i = 0; fixture_goes_on(i, SCALED(1000)); i++) {
        crew team;
        crew_start(&team, 2, call_first, NULL);
        for (unsigned j = 0; j < 2; j++) {
            (void)pthread_kill(team.threads[j], SIGUSR1);
        }
        crew_join(&team);
    }
    CHECK(fixture_statistics().forced_cleanups == 0, "handlers leave calls behind");
    library_end(base);
}

int main(void)
{
    fixture_begin();
    RUN(handlers_call_while_their_thread_is_inside_calls);
    RUN(a_call_stays_protected_after_a_handler_s_call);
    RUN(a_handler_makes_the_first_call_of_its_thread);
    if (!FIXTURE_TSAN) { // see Note [Signals under ThreadSanitizer]
        RUN(a_handler_and_its_thread_race_for_the_first_call);
    }
    return fixture_end();
}
