// Threads that come and go by the thousand, and threads that end inside a call.
//
// Layer:   test
// Threads: up to 64 at a time, each short.
// SPDX-License-Identifier: MIT

#include <semaphore.h>
#include <stddef.h>

#include "concurrency/fixture.h"

enum {
    AT_A_TIME = 64,
    WAVES = SCALED(160), // 10,240 threads
    EXITING = 20,
    BLOCKS_LIMIT = 2 * AT_A_TIME // blocks come by the chunk
};

static kw_library *library;
static const kw_operator *op;

static void begin(typed_function function)
{
    library = library_open("churn");
    library_define(library, "t::f(Tensor x, int n) -> int");
    (void)library_impl(library, "t::f", KW_KEY_CPU, function, 1);
    op = operator_find("t::f");
}

static void call_once(crew *team, unsigned index)
{
    (void)team;
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = 0;
    kw_status status = typed_call(op, &x, index, &result);
    CHECK(status == KW_OK && result == index + 1, "a new thread's call answers %s, %lld",
          kw_status_name(status), (long long)result);
}

static void blocks_of_ended_threads_are_used_again(void)
{
    begin(kernel_add);
    for (int wave = 0; fixture_goes_on(wave, WAVES); wave++) {
        crew team;
        crew_start(&team, AT_A_TIME, call_once, NULL);
        kw_library *over = library_open("wave"); // a writer scans blocks that come and go
        (void)library_impl(over, "t::f", KW_KEY_CPU, kernel_add, 1);
        library_end(over);
        crew_join(&team);
    }
    kw_statistics now = fixture_statistics();
    CHECK(now.thread_blocks <= BLOCKS_LIMIT, "%llu blocks for %d threads at a time",
          (unsigned long long)now.thread_blocks, AT_A_TIME);
    CHECK(now.forced_cleanups == 0, "%llu cleanups with no thread that ends inside a call",
          (unsigned long long)now.forced_cleanups);
    library_end(library);
}

// A thread that exits inside a kernel never ends its call.

static kw_status kernel_exiting(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                int64_t *out_0)
{
    if (n > 0) {
        int64_t inner = 0; // deeper, so that several announcements are left behind
        return typed_call(self->op, x, n - 1, &inner);
    }
    (void)kernel_add(self, keys, x, n, out_0);
    pthread_exit(NULL);
}

static void *exit_inside(void *argument)
{
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = 0;
    (void)typed_call(op, &x, *(int *)argument, &result);
    CHECK(false, "a call returns from a kernel that exits its thread");
    return NULL;
}

static void threads_that_exit_inside_a_kernel_are_cleaned_up(void)
{
    begin(kernel_exiting);
    uint64_t before = fixture_statistics().forced_cleanups;
    uint64_t blocks = fixture_statistics().thread_blocks;
    for (int i = 0; i < EXITING; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, exit_inside, &i) == 0, "no thread");
        (void)pthread_join(thread, NULL);
    }
    kw_statistics now = fixture_statistics();
    CHECK(now.forced_cleanups == before + EXITING, "%llu forced cleanups are counted for %d",
          (unsigned long long)(now.forced_cleanups - before), EXITING);
    CHECK(now.thread_blocks <= blocks + AT_A_TIME / 2, "blocks are lost: %llu, then %llu",
          (unsigned long long)blocks, (unsigned long long)now.thread_blocks);
    library_end(library); // drains although the calls never ended
    CHECK(subject_alive_count() == 0, "user data outlives the drain");
}

// A cancelled thread unwinds past the call.

static sem_t entered;

static kw_status kernel_cancelled(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                  int64_t *out_0)
{
    (void)sem_post(&entered);
    sem_t never;
    (void)sem_init(&never, 0, 0);
    (void)sem_wait(&never); // a cancellation point
    return kernel_add(self, keys, x, n, out_0);
}

static void *call_to_be_cancelled(void *unused)
{
    (void)unused;
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = 0;
    (void)typed_call(op, &x, 0, &result);
    return NULL;
}

static void a_thread_cancelled_inside_a_kernel_is_cleaned_up(void)
{
    (void)sem_init(&entered, 0, 0);
    begin(kernel_cancelled);
    uint64_t before = fixture_statistics().forced_cleanups;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, call_to_be_cancelled, NULL) == 0, "no thread");
    (void)sem_wait(&entered);
    MUST(kw_library_close(library, &err));
    CHECK(kw_library_drain(library, 0, NULL) == KW_BUSY, "the blocked call holds nothing");
    (void)pthread_cancel(thread);
    (void)pthread_join(thread, NULL);
    MUST(kw_library_drain(library, KW_FOREVER, &err));
    MUST(kw_library_destroy(library, &err));
    CHECK(fixture_statistics().forced_cleanups == before + 1, "no forced cleanup is counted");
}

// A destructor of thread-specific data calls an operator after the thread's block is given back,
// if the library's own destructor ran first; more than once, as POSIX repeats destructors.

static pthread_key_t late_key;

static void call_late(void *argument)
{
    int *left = argument;
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = 0;
    kw_status status = typed_call(op, &x, 4, &result);
    CHECK(status == KW_OK && result == 5, "a call at thread end answers %s, %lld",
          kw_status_name(status), (long long)result);
    if (--*left > 0) {
        (void)pthread_setspecific(late_key, left);
    }
}

static void call_and_leave_late_call(crew *team, unsigned index)
{
    int *left = &((int *)team->context)[index];
    *left = 1 + (int)(index % 2);
    (void)pthread_setspecific(late_key, left);
    call_once(team, index);
}

static void destructors_at_thread_end_may_call(void)
{
    begin(kernel_add);
    CHECK(pthread_key_create(&late_key, call_late) == 0, "no thread-specific key");
    uint64_t before = fixture_statistics().forced_cleanups;
    int left[AT_A_TIME];
    for (int wave = 0; fixture_goes_on(wave, WAVES / 4 + 1); wave++) {
        crew team;
        crew_start(&team, AT_A_TIME, call_and_leave_late_call, left);
        crew_join(&team);
    }
    kw_statistics now = fixture_statistics();
    CHECK(now.thread_blocks <= BLOCKS_LIMIT, "%llu blocks for %d threads at a time",
          (unsigned long long)now.thread_blocks, AT_A_TIME);
    CHECK(now.forced_cleanups == before, "%llu cleanups are forced by calls at thread end",
          (unsigned long long)(now.forced_cleanups - before));
    (void)pthread_key_delete(late_key);
    library_end(library);
}

int main(void)
{
    fixture_begin();
    RUN(blocks_of_ended_threads_are_used_again);
    RUN(threads_that_exit_inside_a_kernel_are_cleaned_up);
    RUN(a_thread_cancelled_inside_a_kernel_is_cleaned_up);
    RUN(destructors_at_thread_end_may_call);
    return fixture_end();
}
