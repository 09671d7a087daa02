// The local state of a thread, and how work takes it along to a thread of a pool.
//
// Layer:   test
// Threads: one that submits work, and one that does it.
// SPDX-License-Identifier: MIT

#include <semaphore.h>
#include <stddef.h>

#include <keyway/local.h>

#include "concurrency/fixture.h"

static kw_library *library;
static const kw_operator *op;

static kw_status kernel_failing(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                int64_t *out_0)
{
    (void)keys;
    (void)x;
    (void)out_0;
    kw_local_guard leaked; // a kernel that fails half-way does not restore its own guard
    MUST(kw_local_exclude(keys_of(KW_KEY_CPU), &leaked));
    return kw_fail(KW_KERNEL_FAILED, "kernel %lld fails for %lld", (long long)subject_value(self),
                   (long long)n);
}

enum {
    AUTOGRAD_VALUE = 100,
    CPU_VALUE = 10
};

static void begin(void)
{
    library = library_open("states");
    library_define(library, "t::f(Tensor x, int n) -> int");
    (void)library_impl(library, "t::f", KW_KEY_CPU, kernel_add, CPU_VALUE);
    (void)library_impl(library, "t::f", KW_KEY_AutogradCPU, kernel_add, AUTOGRAD_VALUE);
    (void)library_impl(library, "t::f", KW_KEY_CUDA, kernel_failing, 0);
    op = operator_find("t::f");
}

// Which kernel answers on this thread, for a tensor with both keys.
static int64_t answer(void)
{
    tensor x = typed_tensor(kw_keyset_add(keys_of(KW_KEY_CPU), KW_KEY_AutogradCPU));
    int64_t result = -1;
    kw_status status = typed_call(op, &x, 0, &result);
    CHECK(status == KW_OK, "a call answers %s: %s", kw_status_name(status), kw_call_error());
    return result;
}

static bool is_default(void)
{
    kw_local_state now = kw_local_capture();
    kw_local_state wanted = kw_local_default();
    return kw_keyset_equal(now.included, wanted.included) &&
           kw_keyset_equal(now.excluded, wanted.excluded);
}

// A pool of one thread. Each job may bring the state of its submitter.
typedef struct job {
    const kw_local_state *state; // NULL: none
    bool fails;
    int64_t answer;
    kw_status status;
    bool was_default_before;
    bool is_default_after;
} job;

static job *submitted;
static sem_t has_job;
static sem_t is_done;

static void run_job(job *work)
{
    kw_local_guard guard;
    if (work->state != NULL) {
        MUST(kw_local_force(*work->state, &guard));
    }
    work->answer = answer();
    work->status = KW_OK;
    if (work->fails) {
        tensor x = typed_tensor(keys_of(KW_KEY_CUDA));
        int64_t result = 0;
        work->status = typed_call(op, &x, 1, &result);
    }
    if (work->state != NULL) {
        kw_local_restore(&guard);
    }
}

static void serve(crew *team, unsigned index)
{
    (void)index;
    for (;;) {
        (void)sem_wait(&has_job);
        if (!crew_goes_on(team)) {
            return;
        }
        submitted->was_default_before = is_default();
        run_job(submitted);
        submitted->is_default_after = is_default();
        (void)sem_post(&is_done);
    }
}

static void submit(job *work)
{
    submitted = work;
    (void)sem_post(&has_job);
    (void)sem_wait(&is_done);
    CHECK(work->was_default_before, "the pool thread does not begin with the default state");
}

static void work_without_captured_state_sees_the_default(void)
{
    kw_local_guard guard;
    MUST(kw_local_exclude(keys_of(KW_KEY_AutogradCPU), &guard));
    CHECK(answer() == CPU_VALUE, "the submitter does not see its own state");
    job work = {0};
    submit(&work);
    CHECK(work.answer == AUTOGRAD_VALUE, "the pool thread answers %lld", (long long)work.answer);
    CHECK(work.is_default_after, "the pool thread's state is left changed");
    kw_local_restore(&guard);
    CHECK(answer() == AUTOGRAD_VALUE && is_default(), "the submitter's state is not restored");
}

static void work_with_captured_state_sees_the_submitter_s(void)
{
    kw_local_guard guard;
    MUST(kw_local_exclude(keys_of(KW_KEY_AutogradCPU), &guard));
    kw_local_state state = kw_local_capture();
    job work = {.state = &state};
    submit(&work);
    CHECK(work.answer == CPU_VALUE, "the pool thread answers %lld", (long long)work.answer);
    CHECK(work.is_default_after, "the pool thread's state is not restored");
    kw_local_restore(&guard);
}

static void the_state_is_restored_after_an_error(void)
{
    kw_local_guard guard;
    MUST(kw_local_exclude(keys_of(KW_KEY_AutogradCPU), &guard));
    kw_local_state state = kw_local_capture();
    job work = {.state = &state, .fails = true};
    submit(&work);
    CHECK(work.status == KW_KERNEL_FAILED, "the failing job answers %s",
          kw_status_name(work.status));
    CHECK(work.is_default_after, "after an error the pool thread's state is not restored");
    job next = {0};
    submit(&next);
    CHECK(next.answer == AUTOGRAD_VALUE, "after an error the pool thread answers %lld",
          (long long)next.answer);
    kw_local_restore(&guard);
}

// Threads that set states of their own do not see each other's.

static void set_often(crew *team, unsigned index)
{
    bool excludes = index % 2 == 0;
    for (int i = 0; i < SCALED(20000); i++) {
        kw_local_guard guard;
        MUST(excludes ? kw_local_exclude(keys_of(KW_KEY_AutogradCPU), &guard)
                      : kw_local_include(keys_of(KW_KEY_AutogradCPU), &guard));
        int64_t result = answer();
        CHECK(result == (excludes ? CPU_VALUE : AUTOGRAD_VALUE), "thread %u answers %lld", index,
              (long long)result);
        kw_local_restore(&guard);
        CHECK(is_default(), "thread %u is not back at its default", index);
    }
    (void)team;
}

static void states_of_threads_are_their_own(void)
{
    crew team;
    crew_start(&team, 4, set_often, NULL);
    crew_join(&team);
}

int main(void)
{
    fixture_begin();
    begin();
    (void)sem_init(&has_job, 0, 0);
    (void)sem_init(&is_done, 0, 0);
    crew pool;
    crew_start(&pool, 1, serve, NULL);
    RUN(work_without_captured_state_sees_the_default);
    RUN(work_with_captured_state_sees_the_submitter_s);
    RUN(the_state_is_restored_after_an_error);
    RUN(states_of_threads_are_their_own);
    atomic_store(&pool.is_stopped, true);
    (void)sem_post(&has_job);
    crew_join(&pool);
    library_end(library);
    return fixture_end();
}
