// The children of the scenario "fork": each uses everything, in a bounded time.
//
// Layer:   stress
// Threads: the one that forked; without sanitizers a few more.
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <keyway/fork.h>
#include <keyway/snapshot.h>

#include "scenarios/fork.h"
#include "shared/subject.h"

#define CHILD_SECONDS 120 // a child that hangs ends; that a busy machine is slow is no hang
#define DRAIN_NS (UINT64_C(60) * 1000000000)
#define CHILD_THREADS 2
#define CHILD_CALLS 200

// The group's kernels alive at most: those of the newest library, of the one before it, and of one
// that was on the way when the parent forked.
#define KERNELS_MOST (UINT64_C(3) * 2 * STRESS_FORK_OPS)

// Note [Children without threads]
//
// A sanitizer's runtime may have a lock of its own held at the fork, by a thread that the child
// does not have. Its children start no threads.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_THREADS 0
#else
#define HAS_THREADS 1
#endif

pid_t stress_fork(stress_fork_way way)
{
    kw_error err = KW_ERROR_INIT;
    if (way == STRESS_FORK_AUTOMATIC) {
        return fork();
    }
    bool replaces = way == STRESS_FORK_BY_HAND;
    if (replaces) {
        (void)stress_expect(kw_fork_configure(KW_FORK_URCU), "configuring forks", &err);
    }
    kw_fork_prepare();
    (void)stress_fork_call(0, 0); // calls are allowed in between
    pid_t child = fork();
    if (child == 0) {
        kw_fork_child();
    } else {
        kw_fork_parent();
    }
    if (replaces) {
        (void)stress_expect(kw_fork_configure(KW_FORK_AUTOMATIC | KW_FORK_URCU),
                            "configuring forks", &err);
    }
    return child;
}

void stress_fork_begin(void)
{
    (void)alarm(CHILD_SECONDS);
    stress_subject_begin_child();
    stress_workers_forget(); // nobody has told this process to stop
}

_Noreturn void stress_fork_end(void)
{
    _exit(stress_goes_on() ? 0 : 1);
}

void stress_fork_join(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        stress_violation("status", "a child cannot be made or is lost");
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        stress_violation("hang", "a child has not ended within %d s", CHILD_SECONDS);
    } else if (WIFSIGNALED(status)) {
        stress_violation("crash", "a child ends by signal %d", WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0) {
        stress_violation("status", "a child ends with status %d", WEXITSTATUS(status));
    }
}

// What it does -----------------------------------------------------------------------------------

static void check_generations(uint64_t least)
{
    kw_error err = KW_ERROR_INIT;
    kw_snapshot snapshot;
    (void)stress_expect(kw_snapshot_open(&snapshot), "opening a snapshot", &err);
    uint64_t first = stress_fork_call(0, 0);
    for (unsigned i = 1; i < STRESS_FORK_OPS; i++) {
        uint64_t other = stress_fork_call(i, 0);
        if (other != first) {
            stress_violation("transaction", "a child has half a commit: generations %llu and %llu",
                             (unsigned long long)first, (unsigned long long)other);
        }
    }
    if (first < least) {
        stress_violation("version", "a child goes from generation %llu back to %llu",
                         (unsigned long long)least, (unsigned long long)first);
    }
    (void)stress_expect(kw_snapshot_close(&snapshot), "closing a snapshot", &err);
}

static void *call_often(void *unused)
{
    for (unsigned i = 0; i < CHILD_CALLS; i++) {
        (void)stress_fork_call(i % STRESS_FORK_OPS, 0);
    }
    return unused;
}

// Covers all kernels by `id`.
static kw_library *cover(uint64_t id)
{
    kw_library *over = stress_library_open(stress_fork_group.dispatcher, "child");
    kw_error err = KW_ERROR_INIT;
    kw_transaction *tx = NULL;
    if (!stress_expect(kw_transaction_begin(stress_fork_group.dispatcher, &tx, &err),
                       "beginning a transaction", &err)) {
        stress_give_up("no transaction can be begun");
    }
    for (unsigned i = 0; i < STRESS_FORK_OPS; i++) {
        kw_kernel_descriptor kernel = KW_UNBOXED(TYPED_SIGNATURE, stress_fork_group.cpu);
        kernel.user_data = stress_subject_create(id);
        kernel.destroy = stress_subject_destroy;
        (void)stress_expect(kw_transaction_impl(tx, over,
                                                kw_operator_name(stress_fork_group.ops[i]),
                                                KW_KEY_CPU, &kernel, NULL, &err),
                            "staging a kernel", &err);
    }
    (void)stress_expect(kw_transaction_commit(tx, NULL, NULL, &err), "committing in a child", &err);
    stress_count_add(STRESS_COMMIT);
    return over;
}

// With a time: the thread may be inside what its parent began.
static void end_library(kw_library *library)
{
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_library_close(library, &err), "closing a library", &err);
    (void)stress_expect(kw_library_drain(library, DRAIN_NS, &err), "draining a child's library",
                        &err);
    (void)stress_expect(kw_library_destroy(library, &err), "destroying a child's library", &err);
    stress_count_add(STRESS_CLOSE);
}

static void expect_generation(unsigned which, uint64_t wanted, const char *when)
{
    uint64_t found = stress_fork_call(which, 0);
    if (found != wanted) {
        stress_violation("answer", "a child's call answers %llu, not %llu, %s",
                         (unsigned long long)found, (unsigned long long)wanted, when);
    }
}

// Commits of its own: they show after its own snapshot, and count by one each.
static void change(void)
{
    kw_error err = KW_ERROR_INIT;
    uint64_t before = stress_fork_call(0, 0);
    uint64_t id = stress_subject_fresh_id();
    uint64_t version = kw_version();
    kw_snapshot snapshot;
    (void)stress_expect(kw_snapshot_open(&snapshot), "opening a snapshot", &err);
    kw_library *over = cover(id);
    expect_generation(0, before, "under a snapshot of its own");
    (void)stress_expect(kw_snapshot_close(&snapshot), "closing a snapshot", &err);
    for (unsigned i = 0; i < STRESS_FORK_OPS; i++) {
        expect_generation(i, id, "after its own commit");
    }
    end_library(over);
    expect_generation(0, before, "after its own kernels are gone");
    if (kw_version() != version + 2) {
        stress_violation("version", "a child's two commits go from version %llu to %llu",
                         (unsigned long long)version, (unsigned long long)kw_version());
    }
}

static void change_beside_threads(void)
{
    pthread_t threads[CHILD_THREADS];
    for (int i = 0; HAS_THREADS && i < CHILD_THREADS; i++) {
        if (pthread_create(&threads[i], NULL, call_often, NULL) != 0) {
            stress_give_up("a thread cannot be started in a child");
        }
    }
    end_library(cover(stress_subject_fresh_id()));
    for (int i = 0; HAS_THREADS && i < CHILD_THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

// Nothing is kept for threads that the child does not have.
static void check_counts(void)
{
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_reclaim(), "reclaiming", &err);
    kw_statistics now = {.struct_size = sizeof now};
    kw_statistics_get(&now);
    if (now.retired_count != 0) {
        stress_violation("memory", "a child keeps %llu replaced tables",
                         (unsigned long long)now.retired_count);
    }
    if (now.kernel_count > KERNELS_MOST) {
        stress_violation("memory", "a child has %llu kernels",
                         (unsigned long long)now.kernel_count);
    }
    if (now.snapshot_count != 0) {
        stress_violation("memory", "a child has snapshots of %llu threads that it does not have",
                         (unsigned long long)now.snapshot_count);
    }
}

// NOLINTNEXTLINE(misc-no-recursion): to STRESS_FORK_DEPTH, each level in a process of its own
void stress_fork_live(stress_worker *worker, stress_fork_way way, int depth, uint64_t generation,
                      bool is_inside)
{
    if (is_inside) { // the parent's snapshot shows what was before
        end_library(cover(stress_subject_fresh_id()));
        return;
    }
    check_generations(generation);
    change();
    change_beside_threads();
    check_counts();
    if (depth < STRESS_FORK_DEPTH && stress_chance(worker, 4)) {
        pid_t child = stress_fork(way);
        if (child == 0) {
            stress_fork_begin();
            stress_fork_live(worker, way, depth + 1, generation, false);
            stress_fork_end();
        }
        stress_fork_join(child);
        change();
    }
}
