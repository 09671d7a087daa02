// Threads that do not leave a kernel by its return: they exit, are cancelled, or jump.
//
// Layer:   test
// Threads: one that ends badly at a time, beside the one that is told.
// SPDX-License-Identifier: MIT

#include <semaphore.h>
#include <setjmp.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <keyway/snapshot.h>

#include "concurrency/fixture.h"
#include "registry/forced_cleanup.h"

enum {
    ROUNDS = 20,
    LATE_THREADS = SCALED(2000)
};

static const kw_operator *op;
static kw_library *library;

static void begin(typed_function function)
{
    library = library_open("ends");
    library_define(library, "t::f(Tensor x, int n) -> int");
    (void)library_impl(library, "t::f", KW_KEY_CPU, function, 1);
    op = operator_find("t::f");
}

static kw_status call(int64_t n, int64_t *out_result)
{
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    return typed_call(op, &x, n, out_result);
}

static uint64_t own_number(void)
{
    return (uint64_t)syscall(SYS_gettid);
}

// What was told -----------------------------------------------------------------------------------

static kwi_forced_cleanup told;
static char told_op[KWI_FORCED_NAME_BYTES];
static unsigned told_count;
static uint64_t told_by;

static void hear(const kwi_forced_cleanup *cleanup, void *context)
{
    CHECK(context == &told, "another context comes back");
    told = *cleanup;
    (void)strncpy(told_op, cleanup->op != NULL ? cleanup->op : "", sizeof told_op - 1);
    told_count++;
    told_by = own_number();
    MUST(kw_reclaim()); // under no lock
}

// The same as an event of the process.
static unsigned event_count;

static void hear_event(const kw_event *event, void *context)
{
    (void)context;
    if (event->kind == KW_EVENT_FORCED_CLEANUP) {
        CHECK(strstr(event->current, "ended inside") != NULL, "`%s` is told", event->current);
        event_count++;
    }
}

static void listen(void)
{
    static uint64_t id;
    const kw_listener listener = {.struct_size = sizeof listener, .event = hear_event};
    if (id == 0) {
        MUST(kw_dispatcher_listen(kw_dispatcher_default(), &listener, &id, NULL));
    }
    event_count = 0;
    told = (kwi_forced_cleanup){0};
    told_count = 0;
    kwi_forced_cleanup_listen(hear, &told);
}

typedef struct victim {
    pthread_t thread;
    uint64_t number;
    int64_t depth; // of its call
    sem_t entered;
} victim;

static void *call_to_the_end(void *argument)
{
    victim *self = argument;
    self->number = own_number();
    int64_t result = 0;
    (void)call(self->depth, &result);
    CHECK(false, "a call returns that was never to");
    return NULL;
}

static void start(victim *self, int64_t depth, void *(*run)(void *argument))
{
    self->depth = depth;
    (void)sem_init(&self->entered, 0, 0);
    CHECK(pthread_create(&self->thread, NULL, run, self) == 0, "no thread");
}

// The end of a thread that was `calls` deep in calls of t::f.
static void check_told(const victim *dead, uint32_t calls, uint32_t snapshots)
{
    uint64_t counted = fixture_statistics().forced_cleanups;
    CHECK(told_count == 0, "something is told before anybody commits");
    MUST(kw_reclaim());
    CHECK(told_count == 1, "%u ends are told", told_count);
    CHECK(event_count == 1, "%u events are told", event_count);
    CHECK(told.thread == dead->number, "thread %llu is told, %llu ended",
          (unsigned long long)told.thread, (unsigned long long)dead->number);
    CHECK(told.call_count == calls && told.snapshot_count == snapshots,
          "%u calls and %u snapshots are told", told.call_count, told.snapshot_count);
    CHECK(strcmp(told_op, calls > 0 ? "t::f" : "") == 0, "operator `%s` is told", told_op);
    CHECK(told_by == own_number(), "somebody else tells");
    MUST(kw_reclaim());
    CHECK(told_count == 1, "an end is told again");
    CHECK(fixture_statistics().forced_cleanups == counted, "telling counts");
}

// Exit
// ---------------------------------------------------------------------------------------------

static kw_status kernel_exiting(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                int64_t *out_0)
{
    if (n > 1) {
        return typed_call(self->op, x, n - 1, out_0);
    }
    (void)keys;
    pthread_exit(NULL);
}

static void an_exit_inside_a_kernel_is_told(void)
{
    begin(kernel_exiting);
    for (int64_t depth = 1; depth <= ROUNDS; depth++) { // from 20 on out of the block
        listen();
        victim dead;
        start(&dead, depth, call_to_the_end);
        (void)pthread_join(dead.thread, NULL);
        check_told(&dead, (uint32_t)depth, 0);
    }
    library_end(library);
}

static void a_commit_and_a_drain_tell_too(void)
{
    begin(kernel_exiting);
    victim dead;
    listen();
    start(&dead, 1, call_to_the_end);
    (void)pthread_join(dead.thread, NULL);
    library_define(library, "t::g(Tensor x, int n) -> int");
    CHECK(told_count == 1 && told.thread == dead.number, "a commit does not tell");
    listen();
    start(&dead, 1, call_to_the_end);
    (void)pthread_join(dead.thread, NULL);
    MUST(kw_library_close(library, &err));
    CHECK(told_count == 1 && strcmp(told_op, "t::f") == 0,
          "the commit that ends the operator does not name it: `%s`", told_op);
    library_end(library);
}

static void reports_beyond_what_fits_are_only_counted(void)
{
    begin(kernel_exiting);
    listen();
    uint64_t before = fixture_statistics().forced_cleanups;
    enum {
        ENDS = KWI_FORCED_END_COUNT + 5
    };
    for (int i = 0; i < ENDS; i++) {
        victim dead;
        start(&dead, 1, call_to_the_end);
        (void)pthread_join(dead.thread, NULL);
    }
    CHECK(fixture_statistics().forced_cleanups == before + ENDS, "some are not counted");
    MUST(kw_reclaim());
    CHECK(told_count == KWI_FORCED_END_COUNT, "%u are told", told_count);
    kwi_forced_cleanup_listen(NULL, NULL);
    victim dead;
    start(&dead, 1, call_to_the_end);
    (void)pthread_join(dead.thread, NULL);
    MUST(kw_reclaim()); // drops it
    listen();
    MUST(kw_reclaim());
    CHECK(told_count == 0, "a listener hears of what was before it");
    library_end(library);
}

// A snapshot that stays open
// -----------------------------------------------------------------------

static void *open_and_leave(void *argument)
{
    victim *self = argument;
    self->number = own_number();
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    MUST(kw_snapshot_open(&snapshot));
    return NULL;
}

static void an_open_snapshot_is_told(void)
{
    begin(kernel_add);
    listen();
    victim dead;
    start(&dead, 0, open_and_leave);
    (void)pthread_join(dead.thread, NULL);
    check_told(&dead, 0, 2);
    library_end(library);
}

// Cancellation
// -------------------------------------------------------------------------------------

static victim cancelled;

static kw_status kernel_waiting(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                int64_t *out_0)
{
    (void)sem_post(&cancelled.entered);
    for (;;) {
        (void)sleep(1); // a cancellation point
    }
    return kernel_add(self, keys, x, n, out_0);
}

static kw_status kernel_computing(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                  int64_t *out_0)
{
    (void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    (void)sem_post(&cancelled.entered);
    for (volatile bool forever = true; forever;) {
    }
    return kernel_add(self, keys, x, n, out_0);
}

static void cancel_inside(typed_function function)
{
    begin(function);
    listen();
    start(&cancelled, 1, call_to_the_end);
    (void)sem_wait(&cancelled.entered);
    MUST(kw_library_close(library, &err));
    CHECK(kw_library_drain(library, 0, NULL) == KW_BUSY, "the call holds nothing");
    (void)pthread_cancel(cancelled.thread);
    (void)pthread_join(cancelled.thread, NULL);
    check_told(&cancelled, 1, 0);
    library_end(library);
    CHECK(subject_alive_count() == 0, "user data outlives the drain");
}

static void a_cancellation_at_a_point_is_told(void)
{
    cancel_inside(kernel_waiting);
}

static void a_cancellation_at_any_time_is_told(void)
{
    cancel_inside(kernel_computing);
}

// A thread whose cancellation is due commits: nothing of it may end in the middle.

static void hear_slowly(const kw_event *event, void *context)
{
    (void)event;
    (void)context;
    (void)usleep(1); // a cancellation point
}

static void destroy_slowly(void *user_data)
{
    (void)usleep(1);
    subject_destroy(user_data);
}

static void *commit_until_cancelled(void *argument)
{
    victim *self = argument;
    (void)sem_post(&self->entered);
    for (;;) {
        kw_kernel_descriptor descriptor = kernel_describe(kernel_add, 2);
        descriptor.destroy = destroy_slowly;
        kw_registration registration = 0;
        MUST(kw_library_impl(library, "t::f", KW_KEY_CPU, &descriptor, &registration, &err));
        MUST(kw_library_remove(library, registration, &err));
        pthread_testcancel();
    }
    return NULL;
}

static void a_cancelled_thread_ends_its_commit_first(void)
{
    begin(kernel_add);
    const kw_listener listener = {.struct_size = sizeof listener, .event = hear_slowly};
    uint64_t id = 0;
    MUST(kw_dispatcher_listen(fixture_dispatcher, &listener, &id, &err));
    for (int i = 0; fixture_goes_on(i, SCALED(300)); i++) {
        victim dead;
        start(&dead, 0, commit_until_cancelled);
        (void)sem_wait(&dead.entered);
        (void)usleep((unsigned)i % 50 * 10);
        (void)pthread_cancel(dead.thread);
        MUST(kw_reclaim()); // would wait for ever for a mutex that was left behind
        (void)pthread_join(dead.thread, NULL);
    }
    MUST(kw_dispatcher_unlisten(fixture_dispatcher, id));
    library_end(library);
}

// Jumps
// --------------------------------------------------------------------------------------------

static jmp_buf back;

static kw_status kernel_jumping(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                int64_t *out_0)
{
    if (n == 1) {
        longjmp(back, 1);
    }
    if (n > 1) {
        return typed_call(self->op, x, n - 1, out_0);
    }
    return kernel_add(self, keys, x, n, out_0);
}

static kw_status kernel_catching(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                 int64_t *out_0)
{
    const kw_operator *jumping = operator_find("t::j");
    if (setjmp(back) == 0) {
        (void)typed_call(jumping, x, 5, out_0);
        CHECK(false, "a call returns that jumps");
    }
    return kernel_add(self, keys, x, n, out_0);
}

static void an_outer_call_heals_a_jump(void)
{
    begin(kernel_catching);
    kw_library *jumping = library_open("jumping");
    library_define(jumping, "t::j(Tensor x, int n) -> int");
    (void)library_impl(jumping, "t::j", KW_KEY_CPU, kernel_jumping, 3);
    int64_t result = 0;
    MUST(call(4, &result));
    CHECK(result == 5, "the catching kernel answers %lld", (long long)result);
    library_end(jumping); // nothing holds it, though its calls never ended
    library_end(library);
}

static sem_t may_end;

static void *jump_out_and_wait(void *argument)
{
    victim *self = argument;
    self->number = own_number();
    int64_t result = 0;
    if (setjmp(back) == 0) {
        (void)call(3, &result);
    }
    MUST(call(0, &result)); // calls go on, above what the jump has left
    CHECK(result == 1, "a call after the jump answers %lld", (long long)result);
    (void)sem_post(&self->entered);
    (void)sem_wait(&may_end);
    return NULL;
}

static void a_jump_out_of_the_outermost_call_holds_until_the_thread_ends(void)
{
    begin(kernel_jumping);
    listen();
    (void)sem_init(&may_end, 0, 0);
    victim dead;
    start(&dead, 3, jump_out_and_wait);
    (void)sem_wait(&dead.entered);
    MUST(kw_library_close(library, &err));
    CHECK(kw_library_drain(library, 0, NULL) == KW_BUSY, "the calls that were left hold nothing");
    (void)sem_post(&may_end);
    (void)pthread_join(dead.thread, NULL);
    check_told(&dead, 3, 0);
    library_end(library);
}

// Late blocks
// --------------------------------------------------------------------------------------

static pthread_key_t late_key; // made after the library's, so its destructor runs after

static void call_late(void *argument)
{
    int64_t result = 0;
    MUST(call(1, &result));
    (void)pthread_setspecific(late_key, argument); // until the system gives up
}

static void *end_late(void *unused)
{
    (void)unused;
    int64_t result = 0;
    (void)pthread_setspecific(late_key, &late_key);
    MUST(call(1, &result));
    return NULL;
}

static void blocks_of_threads_that_attach_to_the_last_are_used_again(void)
{
    begin(kernel_add);
    CHECK(pthread_key_create(&late_key, call_late) == 0, "no key");
    uint64_t blocks = fixture_statistics().thread_blocks;
    for (int i = 0; fixture_goes_on(i, LATE_THREADS); i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, end_late, NULL) == 0, "no thread");
        (void)pthread_join(thread, NULL);
    }
    uint64_t now = fixture_statistics().thread_blocks;
    CHECK(now <= blocks + 31, "%llu blocks, then %llu", (unsigned long long)blocks,
          (unsigned long long)now);
    (void)pthread_key_delete(late_key);
    library_end(library);
}

int main(void)
{
    fixture_begin();
    RUN(an_exit_inside_a_kernel_is_told);
    RUN(a_commit_and_a_drain_tell_too);
    RUN(reports_beyond_what_fits_are_only_counted);
    RUN(an_open_snapshot_is_told);
    RUN(a_cancellation_at_a_point_is_told);
    if (!FIXTURE_TSAN) { // which keeps signals back from a thread that calls nothing
        RUN(a_cancellation_at_any_time_is_told);
    }
    RUN(a_cancelled_thread_ends_its_commit_first);
    RUN(an_outer_call_heals_a_jump);
    RUN(a_jump_out_of_the_outermost_call_holds_until_the_thread_ends);
    if (!FIXTURE_TSAN) { // which ends its own view of a thread before the last destructor
        RUN(blocks_of_threads_that_attach_to_the_last_are_used_again);
    }
    return fixture_end();
}
